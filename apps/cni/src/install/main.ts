import { createLogger, processConfig, runUntilSignal } from '@kube-ovn/process'
import { cleanNode } from './clean-node.ts'
import { command } from './config.ts'
import { installNode } from './install-node.ts'

const [verb = '', ...flags] = process.argv.slice(2)
const config = processConfig(command, flags)
if (!['install', 'uninstall', 'cleanup'].includes(verb)) {
  process.stdout.write('say what to do: install, uninstall or cleanup\n')
  process.exit(2)
}
const log = createLogger({ app: `cni-${verb}`, verbosity: config.v })
await runUntilSignal(log, async () =>
  verb === 'install' ? installNode(config, log) : cleanNode(config, log),
)
