import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@kube-ovn/log'
import { isDeepStrictEqual } from 'node:util'
import type { Probation } from './probation.ts'

const suffix = '.json'
const states: readonly unknown[] = ['open', 'confirmed', 'reverted']

/** Tells fragments apart. */
export function fingerprintOf(fragment: object): string {
  return createHash('sha256').update(JSON.stringify(fragment)).digest('hex').slice(0, 16)
}

type Listener<K> = (target: string, old: Probation<K> | undefined, now: Probation<K> | undefined) => void

/**
 * What is known of changes that must be confirmed, a file for each target, in a folder that ends with the machine as they do.
 *
 * A file is written whole, and is on disk before anything is changed.
 */
export class ProbationFiles<K> {
  readonly #folder: string
  readonly #rows = new Map<string, Probation<K>>()
  readonly #listeners = new Set<Listener<K>>()

  /** @param isKept says whether what was read can be what was kept */
  constructor(folder: string, isKept: (value: unknown) => value is K, log: Logger) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const file of readdirSync(folder)) {
      if (!file.endsWith(suffix)) continue
      const path = join(folder, file)
      const read = readProbation(path)
      if (read !== undefined && isKept(read.kept))
        this.#rows.set(decodeURIComponent(file.slice(0, -suffix.length)), read as Probation<K>)
      else log.warn('record of a change can not be read, and is left alone', { path })
    }
  }

  get rows(): ReadonlyMap<string, Probation<K>> {
    return this.#rows
  }

  get(target: string): Probation<K> | undefined {
    return this.#rows.get(target)
  }

  set(target: string, probation: Probation<K>): void {
    const old = this.#rows.get(target)
    if (isDeepStrictEqual(old, probation)) return
    const path = this.#pathOf(target)
    const temporary = `${path}.new`
    const file = openSync(temporary, 'w', 0o600)
    try {
      writeSync(file, JSON.stringify(probation))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
    this.#rows.set(target, probation)
    this.#tell(target, old, probation)
  }

  delete(target: string): void {
    const old = this.#rows.get(target)
    rmSync(this.#pathOf(target), { force: true })
    if (old === undefined) return
    this.#rows.delete(target)
    this.#tell(target, old, undefined)
  }

  onChange(listener: Listener<K>): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  #pathOf(target: string): string {
    return join(this.#folder, `${encodeURIComponent(target)}${suffix}`)
  }

  #tell(target: string, old: Probation<K> | undefined, now: Probation<K> | undefined): void {
    for (const listener of this.#listeners) listener(target, old, now)
  }
}

function readProbation(path: string): Probation<unknown> | undefined {
  try {
    const read = JSON.parse(readFileSync(path, 'utf8')) as Partial<Probation<unknown>> | null
    const { fragment, state, untilMs, kept } = read ?? {}
    if (typeof fragment !== 'string' || typeof untilMs !== 'number' || !states.includes(state))
      return undefined
    return { fragment, state: state as Probation<unknown>['state'], untilMs, kept }
  } catch {
    return undefined
  }
}
