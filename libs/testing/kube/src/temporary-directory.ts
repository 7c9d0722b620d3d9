import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that goes away when it is disposed, or when the process ends without that. */
export class TemporaryDirectory implements AsyncDisposable {
  readonly path: string
  readonly #onExit: () => void

  private constructor(path: string) {
    this.path = path
    this.#onExit = () => rmSync(path, { recursive: true, force: true })
    process.once('exit', this.#onExit)
  }

  static async make(): Promise<TemporaryDirectory> {
    return new TemporaryDirectory(await mkdtemp(join(tmpdir(), 'kube-ovn-test-kube-')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#onExit)
    await rm(this.path, { recursive: true, force: true })
  }
}
