import { installConfiguration } from '../install/configuration.ts'
import { createLogger, processConfig, runUntilSignal } from '@kube-ovn/process'
import { command } from './config.ts'
import { runAgent } from './wiring.ts'

const config = processConfig(command)
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
