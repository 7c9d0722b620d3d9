import { FragmentConflictError, InvalidFragmentError, SysctlNotWrittenError } from './errors.ts'
import { nothingToDo, type Owner, type Sink, type SinkKind, type SinkPlan, type Wanted } from './sink.ts'

/** Settings of the host by their path below /proc/sys/net, e.g. `ipv4/ip_forward`. */
export type Sysctls = ReadonlyMap<string, string>

export const sysctls: SinkKind<Sysctls> = {
  name: 'sysctls',
  targets: (settings) => [...settings.keys()],
  validate(settings) {
    for (const [setting, value] of settings) {
      if (!setting.split('/').includes('..') && /^[^\n]+$/.test(value)) continue
      throw new InvalidFragmentError({ field: setting, value, cure: 'give a path and one line' })
    }
  },
}

/** Reads and writes settings of the host. */
export interface SysctlAccess {
  readSysctl(setting: string): string
  writeSysctl(setting: string, value: string): void
}

/**
 * Writes settings of the host. What nobody wants any more stays as it is: nobody knows what it was before.
 *
 * The kernel does not tell when somebody changes one: it is looked at when what is wanted changes, and when the agent starts.
 */
export class SysctlSink implements Sink<Sysctls> {
  readonly kind = sysctls
  readonly #access: SysctlAccess

  constructor(access: SysctlAccess) {
    this.#access = access
  }

  plan(setting: string, { claims }: Wanted<Sysctls>): SinkPlan {
    const [holder, ...rivals] = claims
    const value = holder?.fragment.get(setting)
    if (holder === undefined || value === undefined) return nothingToDo
    const refused = new Map<Owner, FragmentConflictError>()
    for (const { owner, fragment } of rivals) {
      const other = fragment.get(setting) ?? ''
      if (other === value) continue
      const cure = `want ${value}, as ${holder.owner} does`
      refused.set(
        owner,
        new FragmentConflictError({ field: setting, value: other, holder: holder.owner, cure }),
      )
    }
    if (this.#isAlready(setting, value)) return { ...nothingToDo, refused }
    return {
      changes: [`${setting} = ${value}`],
      refused,
      carryOut: () => {
        try {
          this.#access.writeSysctl(setting, value)
        } catch (cause) {
          // The install container has set it; /proc/sys is read-only in a container without privileges.
          throw new SysctlNotWrittenError({ setting, value }, { cause })
        }
      },
    }
  }

  watch(): Disposable {
    return { [Symbol.dispose]: () => undefined }
  }

  #isAlready(setting: string, value: string): boolean {
    try {
      return this.#access.readSysctl(setting) === value
    } catch {
      // Then writing says what is wrong with it.
      return false
    }
  }
}
