import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Size and offsets of struct acct_v3 (acct(5)). */
const record = { bytes: 64, parentPid: 20, command: 48 } as const

/** A process that ended. */
export interface EndedProcess {
  readonly parentPid: number
  readonly command: string
}

/**
 * The kernel's own account of every process that ends on this machine, so that forks are counted from outside.
 *
 * Switching it on needs root and the program accton (Debian: acct). There is one account for the machine.
 */
export class ProcessAccounting implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'kube-ovn-acct-'))
  readonly #file = join(this.#directory, 'pacct')

  constructor() {
    closeSync(openSync(this.#file, 'w', 0o600))
    execFileSync('accton', [this.#file])
  }

  /** Everything that ended since the start. */
  ended(): readonly EndedProcess[] {
    const account = readFileSync(this.#file)
    return Array.from({ length: Math.floor(account.length / record.bytes) }, (_, index) => {
      const entry = account.subarray(index * record.bytes, (index + 1) * record.bytes)
      return {
        parentPid: entry.readUInt32LE(record.parentPid),
        command: entry.toString('latin1', record.command, record.bytes).replace(/\0.*$/s, ''),
      }
    })
  }

  [Symbol.dispose](): void {
    execFileSync('accton', ['off'])
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
