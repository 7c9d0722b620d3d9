import { installConfiguration } from '../install/configuration.ts'
import { ignoredFlags } from '@kube-ovn/no-effect'
import { createLogger, flagsInUse, processConfig, runUntilSignal } from '@kube-ovn/process'
import { logMetrics, processRegistry } from '@kube-ovn/telemetry'
import { command } from './config.ts'
import { runAgent } from './wiring.ts'

const config = processConfig(command)
const registry = processRegistry()
const log = createLogger({
  app: 'cni',
  verbosity: config.v,
  file: config.logFile,
  onLine: logMetrics(registry).wrote,
  alsoToStderr: config.alsologtostderr,
})
if (config.installCniConfig) {
  const path = `${config.cniConfDir}/${config.cniConfName}`
  installConfiguration(path, { serverSocket: config.bindSocket, cniVersions: [] })
  process.exit(0)
}
const flags = ignoredFlags('agent', flagsInUse(command, config))
if (flags.length > 0) log.warn('flags without effect', { flags })
await runUntilSignal(log, (signal) => runAgent(config, log, registry, signal))
