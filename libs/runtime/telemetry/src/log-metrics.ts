import { Gauge, type Registry } from 'prom-client'

/** klog's names of the levels; it has none for debug. */
const klogLevels: Readonly<Record<string, string>> = {
  debug: 'INFO',
  info: 'INFO',
  warn: 'WARN',
  error: 'ERROR',
}

/**
 * Lines and bytes that were logged, by level, under the names that upstream's dashboards show.
 *
 * They are gauges, because upstream copies them from klog's own counters.
 */
export function logMetrics(registry: Registry) {
  const labelNames = ['level']
  const registers = [registry]
  const lines = new Gauge({ name: 'klog_lines_total', help: 'Log lines by level.', labelNames, registers })
  const bytes = new Gauge({ name: 'klog_bytes_total', help: 'Log bytes by level.', labelNames, registers })
  for (const level of new Set(Object.values(klogLevels))) {
    lines.set({ level }, 0)
    bytes.set({ level }, 0)
  }
  return {
    /** Counts a line. `level` is the logger's: debug, info, warn, error. */
    wrote(level: string, size: number): void {
      const label = { level: klogLevels[level] ?? 'INFO' }
      lines.inc(label)
      bytes.inc(label, size)
    },
  }
}
