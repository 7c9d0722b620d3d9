export { benchmarks, type Benchmark, type BenchmarkResult } from './benchmarks.ts'
