#!/usr/bin/env python3
"""Opens the report of a short tuning in a real browser, at the widths of a phone and of a desktop, light and dark: the plots
have the marks that the result folder says they must have, nothing overflows, nothing is logged. Screenshots stay in --work."""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from browser import Browser, BrowserMissing

MODEL = "zoo:lenet"
VIEWS = [(390, 844, "light"), (390, 844, "dark"), (1280, 900, "light"), (1280, 900, "dark")]

# What of the page sticks out of the window, with its text; scrolling inside of an element would count as well.
OVERFLOWING = """(() => {
  const width = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > width) found.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const e of document.querySelectorAll("main *")) {
    const box = e.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 0.5 || box.left < -0.5))
      found.push((e.id || e.getAttribute("class") || e.tagName) + ": " + e.textContent.slice(0, 40));
  }
  return found.slice(0, 5);
})()"""

# Labels of a plot that lie on each other.
OVERLAPPING = """[...document.querySelectorAll(".plot svg")].flatMap(picture => {
  const texts = [...picture.querySelectorAll("text:not([transform])")].map(e => [e.textContent, e.getBoundingClientRect()]), found = [];
  texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
    if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 2 && q.top < p.bottom - 2) found.push(a + " / " + b);
  }));
  return found;
})"""

# WCAG contrast of text against what lies behind it.
FAINT = """(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll("h1, h2, p, .card, .card b, .name, .figures, .figures b, th, td, code, svg text")) {
    const style = getComputedStyle(e), a = light(parse(e instanceof SVGElement ? style.fill : style.color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(ratio.toFixed(1) + " of " + e.textContent.slice(0, 30));
  }
  return found.slice(0, 5);
})()"""


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, what, is_right, seen=""):
        self.passed += bool(is_right)
        self.failed += not is_right
        if not is_right:
            print(f"FAILED {what}: {seen}")

    def expect_equal(self, what, seen, wanted):
        self.expect(what, seen == wanted, f"{seen}, not {wanted}")


def tune(attune, work, out):
    command = [str(attune), "tune", MODEL, "--budget", "20s", "--trials", "40", "--bank", str(work / "bank.sqlite"), "--output", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")


DATA = re.compile(r"^const data = (.*);$", re.MULTILINE)


def data_of(page):
    return json.loads(DATA.search(page.read_text()).group(1))


def without_measurements(page, out):
    """The same page as it is when all was known before: no convergence, no ceilings, no winner."""
    data = data_of(page)
    data.update(convergence=[], roofs=[])
    data["summary"].update(applied=False, conclusion="nothing is faster than the default beyond noise", trials=0)
    for name in ("before_ms", "after_ms", "speedup"):
        data["summary"].pop(name, None)
    for task in data["tasks"]:
        task.pop("ratio", None)
        task["roofline_ms"] = 0
    out.write_text(DATA.sub(lambda _: f"const data = {json.dumps(data)};", page.read_text()))


def check_marks(browser, data, checks, view):
    count = lambda selector: browser.evaluate(f"document.querySelectorAll('{selector}').length")
    tasks = data["tasks"]
    shown, dots = min(24, len(tasks)), [t for t in tasks if t["flops"] > 0 and t["bytes"] > 0 and t["run_ms"] > 0]
    checks.expect(f"{view}: the model has workloads that compute", len(dots) >= 3, len(dots))
    for selector, wanted in {
            "#cards .card": 8, "#bars .bar.before": shown, "#bars .bar.after": shown,
            "#bars .tick": sum(t["roofline_ms"] > 0 for t in tasks[:24]),
            "#shares .bar": min(12, len({t["op"] for t in tasks})),
            "#roofline circle.dot-before": len(dots), "#roofline circle.dot-after": len(dots),
            "#roofline path.roofline": len(data["roofs"]),
            "#tasks tbody tr": len(tasks)}.items():
        checks.expect_equal(f"{view}: {selector}", count(selector), wanted)
    # The line goes level and down once for each trial.
    path = browser.evaluate("(document.querySelector('#convergence path.line') || {getAttribute: () => ''}).getAttribute('d')")
    checks.expect_equal(f"{view}: steps of the convergence", path.count("V"), len(data["convergence"]))
    shares = browser.evaluate("[...document.querySelectorAll('#shares b')].map(e => parseFloat(e.textContent)).reduce((a, b) => a + b, 0)")
    checks.expect(f"{view}: shares make 100 %", abs(shares - 100) < 1, shares)
    finite = browser.evaluate("!/NaN|Infinity|undefined/.test(document.querySelector('main').innerHTML)")
    checks.expect(f"{view}: all numbers are numbers", finite)


def check_roofs(browser, data, checks, view):
    """No kernel is faster than the roof above its dot, but for convolutions that save flops."""
    kinds = {roof["kind"] for roof in data["roofs"]}
    checks.expect_equal(f"{view}: kinds of roofs", kinds, {"peak", "bandwidth"})
    rises = browser.evaluate("""[...document.querySelectorAll("#roofline path.roofline")].map(e => e.getBBox()).map(b => b.height > 5)""")
    checks.expect_equal(f"{view}: roofs that rise", sum(rises), sum(roof["kind"] == "bandwidth" for roof in data["roofs"]))


def check_hover(browser, data, checks, view):
    place = browser.evaluate("""(() => {
      const dots = document.querySelectorAll("#roofline circle.dot-after"), e = dots[dots.length - 1];
      e.scrollIntoView({block: "center"});
      const box = e.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    })()""")
    browser.point_at(*place)
    seen = browser.evaluate("""(() => {
      const tip = document.getElementById("tip"), box = tip.getBoundingClientRect();
      return {hidden: tip.hidden, text: tip.textContent, inside: box.left >= 0 && box.right <= document.documentElement.clientWidth};
    })()""")
    ops = {t["op"].replace("attune::", "") for t in data["tasks"]}
    checks.expect(f"{view}: pointing at a dot names its workload", not seen["hidden"] and seen["inside"] and
                  seen["text"].split(" ")[0] in ops and "GF/s" in seen["text"], seen)
    browser.point_at(1, 1)
    checks.expect(f"{view}: the label goes away", browser.evaluate("document.getElementById('tip').hidden"))


def check_view(browser, page, data, checks, size, name, work):
    width, height, scheme = size
    view = f"{name} {width} {scheme}"
    browser.show(width, height, scheme)
    browser.open(page)
    check_marks(browser, data, checks, view)
    if data["roofs"]:
        check_roofs(browser, data, checks, view)
    checks.expect_equal(f"{view}: overflowing", browser.evaluate(OVERFLOWING), [])
    checks.expect_equal(f"{view}: labels on each other", browser.evaluate(OVERLAPPING), [])
    checks.expect_equal(f"{view}: faint text", browser.evaluate(FAINT), [])
    browser.screenshot(work / f"{name}_{width}_{scheme}.png")
    check_hover(browser, data, checks, view)
    # A window that changes its size is drawn anew.
    browser.show(width // 2 + 200, height, scheme)
    checks.expect_equal(f"{view}: overflowing when resized", browser.evaluate(f"new Promise(done => requestAnimationFrame(() => done({OVERFLOWING})))"), [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    checks = Checks()
    tune(options.attune, options.work, options.work / "tuned")
    page, known = options.work / "tuned/report.html", options.work / "known.html"
    without_measurements(page, known)
    data = data_of(page)
    checks.expect("a tuning measures something", len(data["convergence"]) > 1 and data["roofs"], data["convergence"])
    try:
        with Browser() as browser:
            for size in VIEWS:
                check_view(browser, page, data, checks, size, "tuned", options.work)
            check_view(browser, known, data_of(known), checks, VIEWS[0], "known", options.work)
            checks.expect_equal("problems", browser.problems, [])
    except BrowserMissing as error:
        checks.expect("a browser", False, error)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
