import { ignoredFlags } from '@kube-ovn/no-effect'
import { createLogger, flagsInUse, processConfig, runUntilSignal } from '@kube-ovn/process'
import { logMetrics, processRegistry } from '@kube-ovn/telemetry'
import { command } from './config.ts'
import { runSpeaker } from './speaker.ts'

const config = processConfig(command)
const registry = processRegistry()
const log = createLogger({
  app: 'speaker',
  verbosity: config.v,
  file: config.logFile,
  onLine: logMetrics(registry).wrote,
  alsoToStderr: config.alsologtostderr || config.logtostderr,
})
const flags = ignoredFlags('speaker', flagsInUse(command, config))
if (flags.length > 0) log.warn('flags without effect', { flags })
await runUntilSignal(log, (signal) => runSpeaker(config, log, registry, signal))
