"""How sure a number is. The intervals against the full cache are those of `vase eval show`; these are for the rest."""
import functools
import math
import statistics

Z = 1.959964  # 95 % of a normal distribution


def standard_error(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def share_within(angle, degrees):
    """How much of Student's t distribution lies within -t .. t, t = sqrt(degrees) tan(angle); share_within() of eval/statistics.cc."""
    sine, cosine, odd = math.sin(angle), math.cos(angle), degrees % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(odd, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


@functools.cache
def t_quantile(degrees):
    """Student's t distribution with so many degrees of freedom, one or more, lies within -t .. t with 95 %."""
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if share_within(middle, degrees) < 0.95 else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def wilson(right, total):
    """95 % interval of a share, Wilson's score."""
    share, z2 = right / total, Z * Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return middle - half, middle + half


def paired(ours, theirs):
    """(mean difference, low, high) over the problems that both have: 95 % by Student's t over problems, low and high None when all are
    the same, as one is. None without any."""
    differences = [ours[problem] - theirs[problem] for problem in ours if problem in theirs]
    if not differences:
        return None
    mean, error = statistics.fmean(differences), standard_error(differences)
    if not error:
        return mean, None, None
    half = t_quantile(len(differences) - 1) * error
    return mean, mean - half, mean + half


def ranks(values):
    """From 1; equal values share the mean of their ranks."""
    return [statistics.fmean([sum(one < value for one in values) + 1, sum(one <= value for one in values)]) for value in values]


def rank_correlation(xs, ys):
    """Spearman's; None when one side is all the same."""
    a, b = ranks(xs), ranks(ys)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return statistics.correlation(a, b)
