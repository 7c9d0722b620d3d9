import { createLogger, readConfig, runUntilSignal } from '@kube-ovn/process'
import { logMetrics, processRegistry } from '@kube-ovn/telemetry'
import { command } from './config.ts'
import { runController } from './wiring.ts'

const parsed = readConfig(command, process.argv.slice(2), process.env)
if (parsed.kind === 'help') {
  process.stdout.write(parsed.text)
} else {
  const { config } = parsed
  const registry = processRegistry()
  const log = createLogger({
    app: 'controller',
    verbosity: config.v,
    file: config.logFile,
    onLine: logMetrics(registry).wrote,
    alsoToStderr: config.alsologtostderr || config.logtostderr,
  })
  await runUntilSignal(log, (signal) => runController(config, log, registry, signal))
}
