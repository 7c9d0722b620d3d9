import { createLogger, processConfig, runUntilSignal } from '@kube-ovn/process'
import { logMetrics, processRegistry } from '@kube-ovn/telemetry'
import { command } from './config.ts'
import { runJob, runServer } from './pinger.ts'

const config = processConfig(command)
const registry = processRegistry()
const log = createLogger({
  app: 'pinger',
  verbosity: config.v,
  file: config.logFile,
  onLine: logMetrics(registry).wrote,
  alsoToStderr: config.alsologtostderr || config.logtostderr,
})
await runUntilSignal(log, async (signal) => {
  if (config.mode === 'server') return runServer(config, log, registry, signal)
  if (await runJob(config, log, (text) => process.stdout.write(text))) return
  process.exit(config.exitCode)
})
