"""Tables of text become the recordings that bags with the same samples become."""

import numpy as np
import pytest

import robot_identification as ri
from robot_identification.errors import BagError, SampleError, SettingError
from robot_identification.files.tables.columns import Columns
from robot_identification.files.tables.reading import is_table, read_table

NAMES = ("hip", "knee")
HEADER = "time,position_hip,position_knee,velocity_hip,velocity_knee,effort_hip,effort_knee"


def rows(count=60, step=0.01):
    """Return (count, 7) time, positions, velocities and efforts of two joints."""
    time = step * np.arange(count)
    return np.column_stack([time, *(np.sin(time + 0.3 * k) for k in range(6))])


def text(values, header=HEADER, separator=",", form="{:.9f}"):
    lines = [header] if header else []
    return "\n".join([*lines, *(separator.join(map(form.format, row)) for row in values)]) + "\n"


@pytest.fixture
def table(tmp_path):
    def write(content, name="log.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def same(found, values):
    np.testing.assert_allclose((found.stamps - found.stamps[0]) * 1e-9, values[:, 0], atol=1e-9)
    for signal, first in (("position", 1), ("velocity", 3), ("effort", 5)):
        np.testing.assert_allclose(found.signals[signal], values[:, first : first + 2], atol=1e-8)


@pytest.mark.parametrize(
    "header",
    [
        HEADER,
        "__time,"
        + ",".join(
            f"/joint_states/{j}/{s}" for s in ("position", "velocity", "effort") for j in NAMES
        ),
        "t,q1,q2,qd1,qd2,tau1,tau2",
        "t,position_1,position_2,velocity_1,velocity_2,effort_1,effort_2",
        "t,position1,position2,velocity1,velocity2,effort1,effort2",
        "time," + ",".join(f"{j}.{s}" for s in ("position", "velocity", "effort") for j in NAMES),
    ],
)
def test_columns_of_usual_names_are_found(table, header):
    values = rows()
    same(read_table(table(text(values, header)), NAMES), values)


@pytest.mark.parametrize("name", ["q{}", "position_{}"])
def test_numbers_from_0_on_are_not_taken_for_numbers_from_1_on(table, name):
    numbered = [name.format(number) for number in range(3)]
    header = ",".join(["t", *numbered, "qd2", "tau1", "tau2"])
    path = table(text(rows(), header))
    with pytest.raises(
        BagError, match=f"no column is known to be position; it has t, {numbered[0]}"
    ):
        read_table(path, NAMES)
    stated = Columns.of({"position": name.format("{i}")})
    found = read_table(path, NAMES, stated)
    np.testing.assert_allclose(found.signals["position"], rows()[:, 1:3], atol=1e-8)


STATED = {"time": "1", "position": "2-3", "velocity": "4,5", "effort": "6-7"}


@pytest.mark.parametrize(("separator", "name"), [(",", "a.csv"), (" ", "a.txt"), ("\t", "a.tsv")])
def test_columns_without_names_have_numbers(table, separator, name):
    values = rows()
    path = table(text(values, "", separator), name)
    same(read_table(path, NAMES, Columns.of(STATED)), values)
    commented = table("# made by a logger\n# a b c\n" + text(values, "", separator), name)
    same(read_table(commented, NAMES, Columns.of(STATED)), values)


@pytest.mark.parametrize(
    "comment", ["# log of 2026", "# a, b, c, d, e, f, g", "#\n# two\n# of them"]
)
def test_a_header_is_found_below_comments(table, comment):
    values = rows()
    same(read_table(table(f"{comment}\n{text(values)}"), NAMES), values)


def test_a_comment_names_the_columns_of_rows_with_a_text_in_a_cell(table):
    values = rows()
    lines = [f"# {HEADER},mode", *(f"{line},idle" for line in text(values, "").splitlines())]
    same(read_table(table("\n".join(lines)), NAMES), values)


@pytest.mark.parametrize("header", [HEADER, f"{HEADER},", f"# {HEADER}"])
def test_rows_may_end_in_a_separator(table, header):
    values = rows()
    ended = "\n".join(f"{line}," for line in text(values, "").splitlines())
    same(read_table(table(f"{header}\n{ended}"), NAMES), values)


def test_names_that_are_not_those_of_the_columns_are_told_with_their_line(table):
    content = text(rows(), HEADER + ",more")
    with pytest.raises(BagError, match="line 1 has 8 names, line 2 7 cells"):
        read_table(table(content), NAMES)
    same(read_table(table(content), NAMES, Columns.of(STATED)), rows())


def test_a_usual_name_that_two_columns_have_is_refused(table):
    content = "\n".join(f"{line},0" for line in text(rows(), "").splitlines())
    path = table(f"{HEADER},position_hip\n{content}")
    with pytest.raises(BagError, match="several columns named position_hip"):
        read_table(path, NAMES)
    same(read_table(path, NAMES, Columns.of(STATED)), rows())


def test_decimal_commas_are_read_beside_semicolons(table):
    values = rows()
    content = text(values, HEADER.replace(",", ";"), ";").replace(".", ",")
    same(read_table(table(content), NAMES), values)


def test_decimal_commas_may_come_after_rows_of_whole_numbers(table):
    """As of a robot that stands while its log begins."""
    values = rows()
    values[:20, 1:] = 0.0
    content = text(values, HEADER.replace(",", ";"), ";", "{:.9g}").replace(".", ",")
    same(read_table(table(content), NAMES), values)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig", "latin-1"])
def test_texts_are_read_as_spreadsheets_write_them(tmp_path, encoding):
    values, path = rows(), tmp_path / "log.txt"
    content = text(values, HEADER.replace(",", "\t").replace("hip", "h\u00fcfte"), "\t")
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path.write_bytes(mark + content.encode(encoding))
    same(read_table(path, ("h\u00fcfte", "knee")), values)


def test_patterns_name_the_columns_of_all_joints_in_the_robots_order(table):
    values = rows()
    header = "timestamp,q_1,q_0,v_1,v_0,i-knee,i-hip"
    columns = Columns.of(
        {"time": "timestamp", "position": "q_{i}", "velocity": "v_{i}", "effort": "i-{joint}"}
    )
    swapped = values[:, [0, 2, 1, 4, 3, 6, 5]]
    same(read_table(table(text(swapped, header)), NAMES, columns), values)


def test_units_are_those_that_are_stated(table):
    values = rows()
    scaled = values.copy()
    scaled[:, 0] *= 1e3
    scaled[:, 1:5] = np.degrees(scaled[:, 1:5])
    scaled[:, 5:] *= 1e3
    columns = Columns.of({
        "time[ms]": "time", "position[deg]": "position_{joint}",
        "velocity[deg/s]": "velocity_{joint}", "effort[mNm]": "effort_{joint}",
    })  # fmt: skip
    found = read_table(table(text(scaled)), NAMES, columns)
    same(found, values)
    assert not found.warnings
    (warning,) = read_table(table(text(scaled)), NAMES).warnings
    assert "lie 10 s apart; if the time is in ms, say --columns time[ms]=" in warning


def test_stamps_keep_the_time_of_day(table):
    values = rows()
    values[:, 0] += 1.7e9
    found = read_table(table(text(values)), NAMES)
    assert abs(int(found.stamps[0]) - 1_700_000_000_000_000_000) < 1000
    np.testing.assert_allclose(np.diff(found.stamps), 10_000_000, atol=600)


@pytest.mark.parametrize("time", [np.nan, np.inf, -1e300, 1.7e18])
@pytest.mark.parametrize("row", [0, 7])
def test_a_row_without_a_time_is_left_out_counted_and_told(table, row, time):
    values = rows()
    values[row, 0] = time
    read = read_table(table(text(values)), NAMES)
    assert read.refused == 1
    assert f"1 of {len(values)} times are no times in seconds" in read.warnings[0]
    assert f"{time:g} at row {row};" in read.warnings[0]
    kept = np.delete(values, row, axis=0)
    kept[:, 0] -= kept[0, 0]
    same(read, kept)


def test_times_of_another_unit_are_refused_with_what_to_state(table):
    values = rows()
    values[:, 0] = 1.7e18 + 1e9 * values[:, 0]
    with pytest.raises(BagError, match=r"60 of 60 .*1.7e\+18 at row 0; .*time\[ns\]=stamp"):
        read_table(table(text(values)), NAMES)
    stated = Columns.of({"time[ns]": "time"})
    stamps = read_table(table(text(values)), NAMES, stated).stamps
    np.testing.assert_allclose(np.diff(stamps), 1e7, atol=300)  # a double holds ns to 256


@pytest.mark.parametrize(("unit", "factor"), [("us", 1e6), ("ns", 1e9)])
@pytest.mark.parametrize("step", [0.0005, 0.01, 0.1])
def test_times_that_cannot_be_seconds_are_refused_with_their_unit(table, unit, factor, step):
    values = rows(step=step)
    values[:, 0] *= factor
    path = table(text(values))
    with pytest.raises(BagError, match=rf"s apart; if the time is in {unit}, .*time\[{unit}\]="):
        read_table(path, NAMES)
    stamps = read_table(path, NAMES, Columns.of({f"time[{unit}]": "time"})).stamps
    np.testing.assert_allclose(np.diff(stamps), 1e9 * step, rtol=1e-6)


def test_rows_of_other_topics_are_left_out(table):
    values = rows()
    lines = text(values).splitlines()
    lines.insert(5, "0.035,,,,,,")
    same(read_table(table("\n".join(lines)), NAMES), values)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace("effort_hip", "load"), "no column is known to be effort; it has time"),
        (lambda t: t.replace("0.030000000,", "0.03x,"), 'line 5, time: "0.03x" is no number'),
        (
            lambda t: t.replace("\n0.030000000,", "\n0.030000000,0,"),
            "line 5 has 8 cells, line 2 has 7",
        ),
        (lambda t: t.replace("\n0.030000000,", "\n,"), "line 5, time: is empty"),
        (lambda t: t.splitlines()[0], "no rows of numbers"),
        (lambda t: "", "no rows of numbers"),
        (lambda t: t.replace("e", "\0"), "no table of text"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(table, change, words):
    with pytest.raises(BagError, match=words):
        read_table(table(change(text(rows()))), NAMES)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("", "is empty; write nan where a value is missing"),
        ('"1,030.5"', "no separator of thousands"),
        ('"0,03"', "write numbers with a decimal point"),
        ("2026-11-28T12:00:00", "write the time as a number"),
    ],
)
def test_what_to_do_about_a_cell_is_said(table, cell, words):
    with pytest.raises(BagError, match=words):
        read_table(table(text(rows()).replace("\n0.030000000,", f"\n{cell},")), NAMES)


def test_what_to_do_about_a_line_of_units_is_said(table):
    first, *others = text(rows()).splitlines()
    units = ",".join(["ms"] + ["deg"] * first.count(","))
    with pytest.raises(
        BagError, match='line 2, time: "ms" is no number; if this line has the units'
    ):
        read_table(table("\n".join([first, units, *others])), NAMES)


@pytest.mark.parametrize(
    ("stated", "error", "words"),
    [
        ({"speed": "a"}, SettingError, "name one of time, position"),
        ({"position[inch]": "a"}, SettingError, "units of position are rad, deg"),
        ({"position": " "}, SettingError, "name a column"),
        ({"position": "q{n}"}, BagError, "no column q1 for position; it has time"),
        ({"position": "2-4"}, BagError, "in 3 columns .2-4., but the robot has 2 joints"),
        ({"position": "8,9"}, BagError, "no column 8"),
    ],
)
def test_columns_that_are_not_there_are_named(table, stated, error, words):
    with pytest.raises(error, match=words):
        read_table(table(text(rows())), NAMES, Columns.of(stated))


def test_a_recording_from_a_table_is_that_from_arrays(table):
    robot = ri.load_robot("scara")
    values = rows(400)
    values[:, 0] += 3.0
    path = table(text(values, "t,q1,q2,qd1,qd2,tau1,tau2"))
    (read,) = ri.read_bags(robot, path)
    made = ri.Recording.from_arrays(
        robot, values[:, 0], values[:, 1:3], values[:, 5:], velocity=values[:, 3:5]
    )
    assert is_table(path)
    assert (read.source, read.period) == (str(path), made.period)
    assert len(read.digest) == 64
    for signal in ("time", "position", "velocity", "effort"):
        one, other = getattr(read.segments[0], signal), getattr(made.segments[0], signal)
        np.testing.assert_allclose(one, other, atol=1e-8)
    values[7, 6] = np.nan
    (read,) = ri.read_bags(robot, table(text(values, "t,q1,q2,qd1,qd2,tau1,tau2")))
    assert (read.statistics.refused, read.statistics.received) == (1, len(values))
    assert "effort of joint joint_2 is nan at sample 7" in read.warnings[-1]
    values[8, 0] = np.nan
    (read,) = ri.read_bags(robot, table(text(values, "t,q1,q2,qd1,qd2,tau1,tau2")))
    assert (read.statistics.refused, read.statistics.received) == (2, len(values))
    values[8, 0] = values[7, 0] + 0.01
    values[: 1 + len(values) // 2, 6] = np.nan
    with pytest.raises(SampleError, match="effort of joint joint_2 is nan at sample 0"):
        ri.read_bags(robot, table(text(values, "t,q1,q2,qd1,qd2,tau1,tau2")))
