import { createLogger, readConfig, runUntilSignal } from '@kube-ovn/process'
import { command } from './config.ts'
import { runController } from './wiring.ts'

const parsed = readConfig(command, process.argv.slice(2), process.env)
if (parsed.kind === 'help') {
  process.stdout.write(parsed.text)
} else {
  const { config } = parsed
  const log = createLogger({
    app: 'controller',
    verbosity: config.v,
    file: config.logFile,
    alsoToStderr: config.alsologtostderr || config.logtostderr,
  })
  await runUntilSignal(log, (signal) => runController(config, log, signal))
}
