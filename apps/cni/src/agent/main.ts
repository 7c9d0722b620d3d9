import { installConfiguration } from '../install/configuration.ts'
import { createLogger, readConfig, runUntilSignal } from '@kube-ovn/process'
import { command } from './config.ts'
import { runAgent } from './wiring.ts'

const parsed = readConfig(command, process.argv.slice(2), process.env)
if (parsed.kind === 'help') {
  process.stdout.write(parsed.text)
  process.exit(0)
}
const { config } = parsed
const log = createLogger({
  app: 'cni',
  verbosity: config.v,
  file: config.logFile,
  alsoToStderr: config.alsologtostderr,
})
if (config.installCniConfig) {
  installConfiguration(`${config.cniConfDir}/${config.cniConfName}`, config.bindSocket)
  process.exit(0)
}
await runUntilSignal(log, (signal) => runAgent(config, log, signal))
