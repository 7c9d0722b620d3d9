/** What ovs-vswitchd tells of a data path, as far as it does: the kernel's has masks, that in userspace has none. */
export interface Datapath {
  /** E.g. `ovs-system`. */
  readonly name: string
  /** Who forwards: `system` is the kernel, `netdev` ovs-vswitchd itself. */
  readonly type: string
  readonly flows: number | undefined
  readonly lookups: {
    readonly hit: number | undefined
    readonly missed: number | undefined
    readonly lost: number | undefined
  }
  readonly masks: {
    readonly hit: number | undefined
    readonly total: number | undefined
    readonly hitsPerPacket: number | undefined
  }
  readonly ports: readonly DatapathPort[]
}

export interface DatapathPort {
  readonly number: number
  readonly name: string
  /** `system` for a device of the kernel that is nothing special. */
  readonly type: string
}

/** Reads the answer to `dpctl/show`: all data paths, in blocks that begin with `TYPE@NAME:`. */
export function parseDatapaths(text: string): readonly Datapath[] {
  return text.split(/^(?=\S+@\S+:$)/m).flatMap((block): readonly Datapath[] => {
    const [, type, name] = /^(\S+?)@(\S+):$/m.exec(block) ?? []
    if (type === undefined || name === undefined) return []
    const line = (title: string): string => new RegExp(`^  ${title}:(.*)$`, 'm').exec(block)?.[1] ?? ''
    const [lookups, masks] = [fieldsOf(line('lookups')), fieldsOf(line('masks'))]
    return [
      {
        type,
        name,
        flows: numberOf(line('flows').trim()),
        lookups: {
          hit: lookups.get('hit'),
          missed: lookups.get('missed'),
          lost: lookups.get('lost'),
        },
        masks: { hit: masks.get('hit'), total: masks.get('total'), hitsPerPacket: masks.get('hit/pkt') },
        ports: portsOf(block),
      },
    ]
  })
}

function portsOf(block: string): readonly DatapathPort[] {
  return [...block.matchAll(/^  port (\d+): (\S+)(?: \((\w[\w-]*))?/gm)].map(
    ([, number, name = '', type = 'system']) => ({ number: Number(number), name, type }),
  )
}

function fieldsOf(line: string): ReadonlyMap<string, number> {
  return new Map([...line.matchAll(/(\S+):([\d.]+)/g)].map(([, key = '', value]) => [key, Number(value)]))
}

function numberOf(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined
}
