"""How sure a number is. The intervals against the full cache are those of `vase eval show`; these are for the rest."""
import math
import statistics

Z = 1.959964  # 95 % of a normal distribution


def standard_error(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def wilson(right, total):
    """95 % interval of a share, Wilson's score."""
    share, z2 = right / total, Z * Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return middle - half, middle + half


def paired(ours, theirs):
    """(mean difference, low, high) over the problems that both have: 95 % by the standard error over problems, low and high None when
    all are the same. None without any."""
    differences = [ours[problem] - theirs[problem] for problem in ours if problem in theirs]
    if not differences:
        return None
    mean, half = statistics.fmean(differences), Z * standard_error(differences)
    return (mean, mean - half, mean + half) if half else (mean, None, None)


def ranks(values):
    """From 1; equal values share the mean of their ranks."""
    return [statistics.fmean([sum(one < value for one in values) + 1, sum(one <= value for one in values)]) for value in values]


def rank_correlation(xs, ys):
    """Spearman's; None when one side is all the same."""
    a, b = ranks(xs), ranks(ys)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return statistics.correlation(a, b)
