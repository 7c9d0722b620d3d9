import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
let started = 0

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A terminal in which a program runs. */
export class Tmux implements AsyncDisposable {
  readonly #socket: string

  private constructor(socket: string) {
    this.#socket = socket
  }

  static async start(command: readonly string[], { columns, rows }: Size): Promise<Tmux> {
    const tmux = new Tmux(`kubectl-ko-${process.pid}-${started++}`)
    await tmux.#run(
      ...['-f', '/dev/null', 'new-session', '-d', '-x', `${columns}`, '-y', `${rows}`],
      ...['--', ...command],
    )
    return tmux
  }

  /** What is to be seen, with escape sequences for colours where asked for. */
  capture({ isColoured = false }: { readonly isColoured?: boolean } = {}): Promise<string> {
    return this.#run('capture-pane', '-p', ...(isColoured ? ['-e'] : []))
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.#run('resize-window', '-x', `${columns}`, '-y', `${rows}`)
  }

  async press(key: string): Promise<void> {
    await this.#run('send-keys', key)
  }

  /** Types a text, as it is. */
  async type(text: string): Promise<void> {
    await this.#run('send-keys', '-l', text)
  }

  /** Whether the program has not ended. */
  async runs(): Promise<boolean> {
    return await this.#run('has-session').then(
      () => true,
      () => false,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (await this.runs()) await this.#run('kill-server')
  }

  async #run(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-L', this.#socket, ...args], {
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    })
    return stdout
  }
}
