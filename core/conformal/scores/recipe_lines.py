"""Lines of NumPy that the recipes of several scores share. They use ``p`` (n, k) and ``letters`` (k,)."""

ON_GRID = """\
def on_grid(x, share):  # 12 decimals: what differs only by rounding is equal, except next to 0 and 1
    return np.where((share % 1 > 0) & (abs(share - np.rint(share)) < 1e-6), x, np.floor(x * 1e12 + 0.5) / 1e12)"""
ORDER = "order = np.argsort(on_grid(p, p), axis=1, kind='stable')  # rising; of equal options the later is ranked first"
GRID = "scores = on_grid(scores, scores)"
RANKS = """\
ranks = np.empty_like(order)
np.put_along_axis(ranks, order, np.arange(len(letters), 0, -1)[None], axis=1)"""
ENTRY = """\
each, grid = np.arange(len(p)), np.pad(on_grid(p, p), ((0, 0), (1, 1)), constant_values=-2)
low = len(letters) - grid[:, -2:0:-1].argmax(axis=1)  # the most probable level, the later of equals
high, order = low, [low]
for _ in letters[1:]:
    up = grid[each, high + 1] >= grid[each, low - 1]  # always the more probable neighbour of the interval
    high, low = high + up, low - ~up
    order.append(np.where(up, high, low))
order = np.stack(order[::-1], axis=1) - 1  # the level that enters last comes first"""
MASS = """\
rising = np.take_along_axis(p, order, axis=1)
mass = np.hstack([np.ones((len(p), 1)), 1 - np.cumsum(rising, axis=1)[:, :-1]])  # 1 - what is ranked after
scores = np.empty_like(p)
np.put_along_axis(scores, order, mass, axis=1)"""
U = "u = np.array([[float(row['u'])] for row in rows])"
