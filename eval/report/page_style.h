// The style sheet of a report: light and dark by the reader's setting, black on white on paper.
#pragma once

namespace vase::eval::report {

// --c0 is the full cache, --c1 the random control, the others are Okabe and Ito's palette, lighter on a dark page.
inline constexpr const char* kPageStyle = R"css(:root { color-scheme: light dark;
  --page: #ffffff; --ink: #222222; --faint: #6b6b6b; --rule: #dddddd; --grid: #e8e8e8;
  --c0: #222222; --c1: #8a8a8a; --c2: #0072b2; --c3: #d55e00;
  --c4: #009e73; --c5: #c06a9c; --c6: #c98a00; --c7: #3aa0dd; }
@media screen and (prefers-color-scheme: dark) { :root {
  --page: #15181c; --ink: #e4e4e4; --faint: #a2a2a2; --rule: #3a3f45; --grid: #2a2f35;
  --c0: #f2f2f2; --c1: #9a9a9a; --c2: #5aa9e6; --c3: #f0763b;
  --c4: #2fbf94; --c5: #db8fbc; --c6: #edb13b; --c7: #9adcff; } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid var(--rule); }
.wide { overflow-x: auto; margin: 1rem 0 0.4rem; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; font-size: 0.95rem; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 0.6rem 0.2rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere; min-width: 2.5rem; }
th { vertical-align: bottom; } .n { text-align: right; overflow-wrap: normal; }
figure { margin: 1.2rem 0; break-inside: avoid; } figcaption { font-weight: 600; margin-bottom: 0.3rem; }
.note, footer { color: var(--faint); font-size: 0.85rem; margin: 0.2rem 0 1rem; } footer { margin-top: 3rem; }
svg { display: block; width: 100%; height: auto; max-width: 47.5rem; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .faint { fill: var(--faint); }
svg .grid { stroke: var(--grid); stroke-width: 1; } svg .axis { stroke: var(--faint); stroke-width: 1; }
svg .mark { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 2 3; }
svg .shade { fill: var(--faint); opacity: 0.15; stroke: none; }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; } svg .bar { stroke-width: 1.2; opacity: 0.7; }
svg .lead { stroke-width: 0.8; opacity: 0.6; fill: none; } svg .band { opacity: 0.15; stroke: none; }
svg .heat { fill: var(--c2); shape-rendering: crispEdges; } svg .h0 { fill-opacity: 0.04; }
svg .h1 { fill-opacity: 0.12; } svg .h2 { fill-opacity: 0.2; } svg .h3 { fill-opacity: 0.3; }
svg .h4 { fill-opacity: 0.4; } svg .h5 { fill-opacity: 0.5; } svg .h6 { fill-opacity: 0.6; }
svg .h7 { fill-opacity: 0.7; } svg .h8 { fill-opacity: 0.8; } svg .h9 { fill-opacity: 0.9; }
svg .box { fill-opacity: 0.25; stroke-width: 1.2; }
svg .s0 { stroke: var(--c0); } svg .s1 { stroke: var(--c1); }
svg .s2 { stroke: var(--c2); } svg .s3 { stroke: var(--c3); }
svg .s4 { stroke: var(--c4); } svg .s5 { stroke: var(--c5); }
svg .s6 { stroke: var(--c6); } svg .s7 { stroke: var(--c7); }
svg .f0 { fill: var(--c0); } svg .f1 { fill: var(--c1); } svg .f2 { fill: var(--c2); } svg .f3 { fill: var(--c3); }
svg .f4 { fill: var(--c4); } svg .f5 { fill: var(--c5); } svg .f6 { fill: var(--c6); } svg .f7 { fill: var(--c7); }
svg .d1 { stroke-dasharray: 7 4; } svg .d2 { stroke-dasharray: 2 4; } svg .d3 { stroke-dasharray: 9 3 2 3; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } table { font-size: 9px; }
  .wide { overflow: visible; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
)css";

}  // namespace vase::eval::report
