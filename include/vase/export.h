/* VASE_API marks what the shared library offers; everything else in it is hidden. Plain C. */
#ifndef VASE_EXPORT_H_
#define VASE_EXPORT_H_

#if defined(__GNUC__)
#define VASE_API __attribute__((visibility("default")))
#else
#define VASE_API
#endif

#endif /* VASE_EXPORT_H_ */
