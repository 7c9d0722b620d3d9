/**
 * Hands a question to the controller that runs beside it, and prints the answer: `kubectl ko plan` runs it in the container.
 *
 *     node /kube-ovn/ask-plan.mjs <question.json
 */
import { createConnection } from 'node:net'
import { pipeline } from 'node:stream/promises'

const path = process.argv[2] ?? '/run/kube-ovn/plan.sock'
const socket = createConnection({ path, allowHalfOpen: true })
try {
  await Promise.all([pipeline(process.stdin, socket), pipeline(socket, process.stdout, { end: false })])
} catch (error) {
  process.stderr.write(`${path}: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
