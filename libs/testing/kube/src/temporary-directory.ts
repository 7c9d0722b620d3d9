import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Holds the directories of this user's fixtures. A container sees it whole, so that it can remove one of them. */
export const DIRECTORIES = join(tmpdir(), `kube-ovn-test-kube-${process.getuid?.() ?? 0}`)

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
    await mkdir(DIRECTORIES, { recursive: true, mode: 0o700 })
    return new TemporaryDirectory(await mkdtemp(join(DIRECTORIES, 'api-')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#onExit)
    await rm(this.path, { recursive: true, force: true })
  }
}
