const isTerminal = process.stderr.isTTY

/**
 * Runs one step of a build and prints how long it took, unless that was no noticeable time.
 *
 * What `work` reports is shown while it runs: redrawn on a terminal, every 15 seconds elsewhere.
 */
export async function step<T>(
  name: string,
  work: (report: (detail: string) => void) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now()
  let detail = ''
  const ticker = setInterval(
    () => show(`⋯ ${name}  ${seconds(startedMs)} ${detail}`),
    isTerminal ? 1000 : 15_000,
  ).unref()
  let mark = '✗'
  try {
    const result = await work((text) => (detail = text))
    mark = '✓'
    return result
  } finally {
    clearInterval(ticker)
    if (isTerminal) process.stderr.write('\r\x1b[2K')
    if (mark === '✗' || performance.now() - startedMs > 500) {
      process.stderr.write(`${mark} ${name}  ${seconds(startedMs)}\n`)
    }
  }
}

function show(text: string): void {
  if (isTerminal) process.stderr.write(`\r\x1b[2K${text.slice(0, (process.stderr.columns || 110) - 1)}`)
  else process.stderr.write(`${text}\n`)
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
}
