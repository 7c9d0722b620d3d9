import { createLogger, readConfig, runUntilSignal } from '@kube-ovn/process'
import { cleanNode } from './clean-node.ts'
import { command } from './config.ts'
import { installNode } from './install-node.ts'

const [verb = '', ...flags] = process.argv.slice(2)
const parsed = readConfig(command, flags, process.env)
if (parsed.kind === 'help' || !['install', 'uninstall', 'cleanup'].includes(verb)) {
  const usage = parsed.kind === 'help' ? parsed.text : 'say what to do: install, uninstall or cleanup\n'
  process.stdout.write(usage)
  process.exit(parsed.kind === 'help' ? 0 : 2)
}
const { config } = parsed
const log = createLogger({ app: `cni-${verb}`, verbosity: config.v })
await runUntilSignal(log, async () =>
  verb === 'install' ? installNode(config, log) : cleanNode(config, log),
)
