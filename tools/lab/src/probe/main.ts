#!/usr/local/bin/node
/**
 * The probe as a program, for pods of a cluster whose network namespaces can not be entered.
 *
 *     kube-ovn-probe serve [PORT]               listens until it ends, and tells whoever asks what it saw
 *     kube-ovn-probe ask < QUESTIONS.json       asks all at once; prints the outcomes as JSON, in their order
 *     kube-ovn-probe rate ADDRESS PORT MS       sends a stream to such a listener; prints its rate as JSON
 */
import { text } from 'node:stream/consumers'
import { runAttempt } from './attempt.ts'
import { parseQuestions } from './question.ts'
import { askRate } from './rate.ts'
import { serve } from './serve.ts'
import { Sightings } from './sightings.ts'

/** Outside of the range that Linux takes ports of clients from. */
const defaultPort = 18_080

async function main([command, ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case 'serve': {
      for (const line of serve(Number(args[0] ?? defaultPort))) process.stdout.write(`${line}\n`)
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
      // Listeners are descriptors that Node does not know of; the process must not end for want of work.
      await new Promise(() => setInterval(() => undefined, 1 << 30))
      return 0
    }
    case 'ask': {
      const sightings = new Sightings()
      const questions = parseQuestions(await text(process.stdin))
      const outcomes = await Promise.all(questions.map((question) => runAttempt(question, sightings)))
      process.stdout.write(`${JSON.stringify(outcomes)}\n`)
      return 0
    }
    case 'rate': {
      const [address = '', port, durationMs] = args
      const measured = await askRate({ address, port: Number(port) }, Number(durationMs))
      process.stdout.write(`${JSON.stringify(measured)}\n`)
      return 0
    }
    default:
      process.stderr.write('usage: kube-ovn-probe serve [PORT] | ask | rate ADDRESS PORT MS\n')
      return 2
  }
}

process.exit(await main(process.argv.slice(2)))
