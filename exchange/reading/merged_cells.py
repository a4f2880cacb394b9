"""Fill cells that mean "as above": merged ones, and those that say so."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection

from exchange.reading.workbooks import column_index

# What people write for the value above. A title can't be one of these.
AS_ABOVE = re.compile(
    r"(?:\(?(?:same )?as above\)?|ditto|idem|dto\.?|siehe oben|s\. ?o\.|〃|″|''|\"|↑)\Z", re.IGNORECASE
)
# Merged cells of a workbook never overlap, so that more cells than these are no table.
MAX_FILLED = 2_000_000


def fill_merged_cells(
    lines: list[tuple[int, list[str]]],
    merged: list[tuple[str, int, str, int]],
    faults: dict[tuple[int, int], str],
) -> None:
    """Give each row of merged cells the value of the first, in the first of their columns.

    `lines`: the number and the cells of each row. `merged`: first column and row, last column and row.
    """
    numbers = [number for number, _ in lines]
    filled = 0
    for column, first, _, last in merged:
        begin, end = bisect_left(numbers, first), bisect_right(numbers, last)
        filled += end - begin
        if begin == end or numbers[begin] != first or filled > MAX_FILLED:
            continue
        index, cells = column_index(column), lines[begin][1]
        value = cells[index] if index < len(cells) else ""
        for number, line in lines[begin + 1 : end] if value.strip() else ():
            line += [""] * (index + 1 - len(line))
            line[index] = line[index] if line[index].strip() else value
            if (first, index) in faults:
                faults.setdefault((number, index), faults[first, index])


def fill_as_above(lines: list[tuple[int, list[str]]], columns: Collection[int]) -> list[int]:
    """Replace cells such as "ditto" by the cell above, in these columns. Return the numbers of their rows."""
    above: list[str] = []
    changed = []
    for number, cells in lines:
        for index, cell in enumerate(cells):
            if index < len(above) and above[index] and index in columns and AS_ABOVE.match(cell.strip()):
                cells[index] = above[index]
                changed.append(number)
        above = [*cells]
    return list(dict.fromkeys(changed))


def fill_empty(lines: list[tuple[int, list[str]]], index: int) -> list[int]:
    """Give rows without a cell in this column the cell above. Return their numbers."""
    above = ""
    changed = []
    for number, cells in lines:
        cell = cells[index] if index < len(cells) else ""
        if above and not cell.strip() and any(map(str.strip, cells)):
            cells += [""] * (index + 1 - len(cells))
            cells[index] = above
            changed.append(number)
        above = cell if cell.strip() else above
    return changed
