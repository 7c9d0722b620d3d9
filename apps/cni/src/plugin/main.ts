import { readFileSync, writeSync } from 'node:fs'
import { askAgent } from './agent-client.ts'
import { runPlugin } from './run.ts'

/** Replaced by the bundler with the version of the release. */
declare const KUBE_OVN_VERSION: string | undefined

const version = typeof KUBE_OVN_VERSION === 'string' ? KUBE_OVN_VERSION : 'development'

/** Reading a terminal would wait for somebody to type. */
function readStdin(): string {
  const verb = process.env['CNI_COMMAND'] ?? ''
  return verb === '' || verb === 'VERSION' ? '' : readFileSync(0, 'utf8')
}

const outcome = await runPlugin(process.env, readStdin(), askAgent, version)
if (outcome.stdout !== '') writeSync(1, outcome.stdout)
if (outcome.stderr !== '') writeSync(2, outcome.stderr)
process.exit(outcome.exitCode)
