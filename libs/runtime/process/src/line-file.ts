import { errorCode } from '@kube-ovn/errors'
import { mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Who reads a full pipe that nobody waits for has so long until it is tried again. */
const fullPipeMs = 10
const pauseCell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** A file that lines are appended to. What the disk does not take ends nobody: it is answered, and the next line is tried again. */
export class LineFile {
  readonly #descriptor: number
  /** The end of a line was not taken. */
  #isTorn = false

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Opens a file, and makes its folder, if they are not there yet. */
  static open(path: string): LineFile {
    mkdirSync(dirname(path), { recursive: true })
    return new LineFile(openSync(path, 'a'))
  }

  /** Writes a line with its end; answers what the system said against it. */
  write(line: string): unknown {
    let left = Buffer.from(this.#isTorn ? `\n${line}` : line)
    const { length } = left
    while (left.length > 0) {
      try {
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
