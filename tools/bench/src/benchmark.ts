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
  run(): Promise<BenchmarkResult>
}
