import { createLogger, processConfig, runUntilSignal } from '@kube-ovn/process'
import { logMetrics, processRegistry } from '@kube-ovn/telemetry'
import { command } from './config.ts'
import { runMonitor } from './monitor.ts'

const config = processConfig(command)
const registry = processRegistry()
const log = createLogger({
  app: 'monitor',
  verbosity: config.v,
  file: config.logFile,
  onLine: logMetrics(registry).wrote,
  alsoToStderr: config.alsologtostderr || config.logtostderr,
})
await runUntilSignal(log, (signal) => runMonitor(config, log, registry, signal))
