/** What a benchmark measured: one figure that stands for it, and more beside it. */
export interface BenchmarkResult {
  readonly value: number
  readonly unit: string
  readonly [field: string]: number | string
}

export interface Benchmark {
  readonly name: string
  /** What the figure says, one line. */
  readonly summary: string
  /** Whether it can be run with less of everything than its figure is about. */
  readonly isScalable?: true
  /** @param scale how much of everything there is, 1 for what the figure is about */
  run(scale: number): Promise<BenchmarkResult>
}
