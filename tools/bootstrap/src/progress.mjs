const started = performance.now()
const running = new Map()
const isTerminal = Boolean(process.stderr.isTTY)
let ticker

/**
 * Runs `work` as a named step and prints one line when it is done, with the time it took.
 *
 * While it runs, the elapsed time and the last word of `report` are shown: redrawn every second on a terminal,
 * a line every 15 seconds elsewhere. Nothing is printed for a step that took no noticeable time, so that a second
 * run of a command starts with its own output.
 *
 * @param {string} name
 * @param {(report: (detail: string) => void) => Promise<T>} work
 * @returns {Promise<T>}
 * @template T
 */
export async function step(name, work) {
  const entry = { name, since: performance.now(), detail: '', printedMs: 0 }
  running.set(name, entry)
  ticker ??= setInterval(draw, 1000).unref()
  try {
    const result = await work((detail) => (entry.detail = detail))
    finish(entry, '✓')
    return result
  } catch (error) {
    finish(entry, '✗')
    throw error
  }
}

function finish(entry, mark) {
  running.delete(entry.name)
  if (running.size === 0) {
    clearInterval(ticker)
    ticker = undefined
  }
  const ms = performance.now() - entry.since
  if (mark === '✓' && ms < 500) return
  eraseLine()
  process.stderr.write(`${mark} ${entry.name}  ${seconds(ms)}\n`)
}

function draw() {
  const now = performance.now()
  if (isTerminal) {
    eraseLine()
    const steps = [...running.values()].map((entry) => describe(entry, now)).join(' · ')
    process.stderr.write(
      `⋯ ${steps}  (${seconds(now - started)} in all)`.slice(0, process.stderr.columns || 110),
    )
    return
  }
  for (const entry of running.values()) {
    if (now - entry.since - entry.printedMs < 15_000) continue
    entry.printedMs = now - entry.since
    process.stderr.write(`⋯ ${describe(entry, now)}\n`)
  }
}

function describe(entry, now) {
  return `${entry.name} ${seconds(now - entry.since)}${entry.detail === '' ? '' : ` ${entry.detail}`}`
}

function seconds(ms) {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

function eraseLine() {
  if (isTerminal) process.stderr.write('\r\x1b[2K')
}
