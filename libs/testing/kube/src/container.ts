import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { FixtureError } from './errors.ts'

/**
 * The container of one API server, held by the pipe to its supervisor.
 *
 * However this process ends, the pipe ends with it, the supervisor reads the end of its input, and the engine removes
 * the container.
 *
 * It is not one of testcontainers, which offers no way to talk to a container's standard input and output: attaching to
 * them and taking apart the stream that the engine makes of them would be more than what `docker run` leaves to do here.
 */
export class Container implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #lines: Interface
  readonly #directory: string
  #errors = ''

  /** `args` are those of `docker run`; the supervisor logs to `directory`. */
  constructor(args: readonly string[], directory: string) {
    this.#directory = directory
    this.#process = spawn('docker', ['run', '--rm', '--interactive', ...args], { stdio: 'pipe' })
    this.#process.stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    // The supervisor may be gone already when it is told to stop.
    this.#process.stdin.on('error', () => undefined)
    this.#lines = createInterface(this.#process.stdout)
    this.#answers = this.#lines[Symbol.asyncIterator]()
    this.#process.unref()
  }

  /** Sends a command, unless it is empty, and yields the next line that the supervisor prints. */
  async ask(command: string): Promise<string> {
    if (command !== '') this.#process.stdin.write(`${command}\n`)
    const answer = await this.#answers.next()
    if (answer.done !== true) return answer.value
    throw new FixtureError('Container of the API server ended', {
      what: this.#process.spawnargs.join(' '),
      output: `${this.#errors}${await this.logs()}`,
      cure: 'read the output',
    })
  }

  /** The ends of the logs, for an error. */
  async logs(): Promise<string> {
    const tails: string[] = []
    for (const name of ['supervise.log', 'etcd.log', 'apiserver.log']) {
      const text = await readFile(join(this.#directory, name), 'utf8').catch(() => '')
      tails.push(`--- ${name}\n${text.slice(-2000)}`)
    }
    return tails.join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lines.close()
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.ref()
    this.#process.stdin.end()
    await ended
  }
}
