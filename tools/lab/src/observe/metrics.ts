/** A series of a page of metrics, and its value. */
export interface Sample {
  readonly line: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The series of one name in a page in Prometheus' text format. */
export function samplesOf(page: string, name: string): readonly Sample[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => ({
      line,
      labels: Object.fromEntries(
        [...line.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [
          label,
          value,
        ]),
      ),
      value: Number(line.slice(line.lastIndexOf(' ') + 1)),
    }))
}
