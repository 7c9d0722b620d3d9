import { errorCode } from '@kube-ovn/errors'
import { mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Who reads a full pipe that nobody waits for has so long until it is tried again. */
const fullPipeMs = 10
const pauseCell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** A file that lines are appended to. What the disk does not take ends nobody: it is answered, and the next line is tried again. */
export class LineFile {
  readonly #open: () => number
  #descriptor: number | undefined
  /** The end of a line was not taken. */
  #isTorn = false

  /** Of a descriptor, or of a file that is opened, and made with its folder, when there is something to write. */
  constructor(file: number | string) {
    this.#open = typeof file === 'number' ? () => file : () => openFile(file)
  }

  /** Writes a line with its end; answers what the system said against it. */
  write(line: string): unknown {
    let left = Buffer.from(this.#isTorn ? `\n${line}` : line)
    const { length } = left
    while (left.length > 0) {
      try {
        this.#descriptor ??= this.#open()
        left = left.subarray(writeSync(this.#descriptor, left))
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN') {
          this.#isTorn ||= left.length < length
          return error
        }
        Atomics.wait(pauseCell, 0, 0, fullPipeMs)
      }
    }
    this.#isTorn = false
    return undefined
  }
}

function openFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true })
  return openSync(path, 'a')
}
