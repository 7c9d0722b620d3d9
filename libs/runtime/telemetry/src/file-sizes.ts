import { errorCode } from '@kube-ovn/errors'
import { stat } from 'node:fs/promises'
import type { Sources } from './sources.ts'

const source = 'files'

/**
 * Sizes of files. A disk that hangs keeps nobody waiting: its sizes are unknown then. One is asked for after the other, because each that hangs holds
 * one of the four threads by which Node reads any file, also that of a daemon's process id.
 */
export class FileSizes {
  readonly #paths: readonly string[]
  readonly #sources: Sources
  #sizes: ReadonlyMap<string, number> = new Map()
  #looking: Promise<void> | undefined

  constructor(paths: readonly string[], sources: Sources) {
    this.#paths = paths
    this.#sources = sources
  }

  /** Of the last look, by path: without those that are not there or may not be looked at. */
  get sizes(): ReadonlyMap<string, number> {
    return this.#sizes
  }

  /** Looks, and resolves when that is done. While an earlier look hangs, there is no other. */
  look(): Promise<void> {
    if (this.#looking !== undefined) {
      this.#sizes = new Map()
      this.#sources.failed(source, new Error('the sizes of files are not known since the last look'))
      return this.#looking
    }
    this.#looking = this.#read().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #read(): Promise<void> {
    const sizes = new Map<string, number>()
    let problem: unknown
    for (const path of this.#paths) {
      try {
        sizes.set(path, (await stat(path)).size)
      } catch (error) {
        // One that is not there has no size, which is no failure: a log is made when there is something to say.
        if (errorCode(error) !== 'ENOENT') problem = error
      }
    }
    this.#sizes = sizes
    if (problem === undefined) this.#sources.answered(source)
    else this.#sources.failed(source, problem)
  }
}
