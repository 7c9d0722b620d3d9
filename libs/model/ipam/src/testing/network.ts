import {
  formatIpList,
  parseCidrList,
  parseIpList,
  type DualStackIp,
  type Family,
  type Ip,
} from '@kube-ovn/ip'
import { KubeOvnError } from '@kube-ovn/errors'
import { Ipam, type AllocateRequest, type Lease, type Owner } from '../index.ts'

/** The families of a subnet. Tests say `#n` for the n-th address of its block, and `@n` for that of another block. */
export interface Stack {
  readonly name: string
  /** In the order in which a user writes them. */
  readonly families: readonly Family[]
}

export const stacks: readonly Stack[] = [
  { name: 'IPv4', families: [4] },
  { name: 'IPv6', families: [6] },
  { name: 'dual stack', families: [4, 6] },
  { name: 'dual stack, IPv6 first', families: [6, 4] },
]

/** Subnets of both families, and which of them a test is about. */
export const halves: readonly { readonly family: Family; readonly other: Family }[] = [
  { family: 4, other: 6 },
  { family: 6, other: 4 },
]

function written(text: string, family: Family): string {
  if (family === 4) return text.replaceAll('#', '10.0.0.').replaceAll('@', '10.0.1.')
  return text.replaceAll(/([#@])(\d+)/g, (_, block: string, digits: string) => {
    return `${block === '#' ? 'fd00::' : 'fd00:1::'}${Number(digits).toString(16)}`
  })
}

/** Writes addresses of both families as `#n` and `@n`. */
function short(text: string): string {
  return text
    .replaceAll(/10\.0\.0\.(\d+)/g, '#$1')
    .replaceAll(/10\.0\.1\.(\d+)/g, '@$1')
    .replaceAll(/fd00::([0-9a-f]*)/g, (_, digits: string) => `#${Number.parseInt(`0${digits}`, 16)}`)
    .replaceAll(/fd00:1::([0-9a-f]*)/g, (_, digits: string) => `@${Number.parseInt(`0${digits}`, 16)}`)
}

/** What is the same in all families. */
function alike<T>(values: readonly T[]): T | undefined {
  const [first, ...others] = values.map((value) => JSON.stringify(value))
  const other = others.find((text) => text !== first)
  if (other !== undefined) throw new Error(`the families differ: ${first} and ${other}`)
  return values[0]
}

function ownerOfNic(nic: string): Owner {
  return `pod/ns/${nic.replace(/\..*/, '')}`
}

/** How a subnet differs from one of 16 addresses whose gateway is the first of them. */
export interface Layout {
  /** The block with an address in it, without the prefix length. */
  readonly block?: string
  /** 4 for a /28 and a /124. */
  readonly hostBits?: number
  readonly gateway?: string | undefined
  readonly excluded?: readonly string[]
}

/** A subnet, what happens in it, and how it is asked about: what is said of addresses holds in all of its families. */
export class Network {
  readonly families: readonly Family[]
  readonly ipam: Ipam
  #macs = 0

  constructor({ families }: Pick<Stack, 'families'>, layout: Layout = {}) {
    this.families = families
    this.ipam = new Ipam((bytes) =>
      Uint8Array.from({ length: bytes }, (_, index) => (index % 6 < 4 ? 0 : this.#macs++)),
    )
    this.change(layout)
  }

  /** Answers which NICs lost their addresses, and which exclusions exclude nothing. */
  change(layout: Layout, families = this.families): { lost: readonly string[]; ignored: readonly string[] } {
    const { block = '#0', hostBits = 4, excluded = [] } = layout
    const gateway = 'gateway' in layout ? layout.gateway : block.replace(/\d+/, '1')
    const prefix = (family: Family) => (family === 4 ? 32 : 128) - hostBits
    const cidrs = families.map((family) => `${written(block, family)}/${prefix(family)}`)
    const { lost, ignoredExcludeIps } = this.ipam.setSubnet({
      name: 's',
      cidrs: parseCidrList(cidrs.join()),
      gateways: gateway === undefined ? {} : this.addresses(gateway, families),
      excludeIps: this.entries(excluded, families),
    })
    const ignored = ignoredExcludeIps.map(({ details }) => short(details.value))
    return { lost: lost.map(({ nic }) => nic), ignored: [...new Set(ignored)] }
  }

  /** Answers why the change is refused. */
  refusal(layout: Layout, families = this.families): string {
    return this.#answer(() => {
      this.change(layout, families)
      return ''
    })
  }

  /** Answers why the pool is refused, if it is. */
  pool(name: string, ips: readonly string[]): string {
    return this.#answer(() => {
      this.ipam.setPool('s', name, this.entries(ips))
      return ''
    })
  }

  /** `#2`, or how the request was refused. */
  ask(nic: string, wishes: Partial<AllocateRequest> = {}): string {
    return this.#answer(() =>
      this.said(this.ipam.allocate({ subnet: 's', nic, owner: ownerOfNic(nic), ...wishes })),
    )
  }

  want(nic: string, address: string, wishes: Partial<AllocateRequest> = {}): string {
    return this.ask(nic, { static: this.addresses(address), ...wishes })
  }

  free(nic: string): void {
    this.ipam.release(nic, ownerOfNic(nic))
  }

  holders(address: string, subnet = 's'): readonly Owner[] {
    return alike(this.ips(address).map((ip) => this.ipam.holders(subnet, ip))) ?? []
  }

  /** What is available, and in use, as ranges. */
  ranges(pool?: string): readonly string[] {
    const statistics = pool === undefined ? this.ipam.statistics('s') : this.ipam.poolStatistics('s', pool)
    const texts = [statistics.v4, statistics.v6].flatMap((family) =>
      family === undefined ? [] : [[family.availableRanges, family.usingRanges].map(short)],
    )
    return alike(texts) ?? []
  }

  /** What a NIC has: `#2`, or `#2,#9` where the families differ. */
  has(nic: string): string {
    const { v4, v6 } = this.ipam.lease(nic) ?? {}
    return v4 === undefined && v6 === undefined ? '' : short(formatIpList({ v4, v6 }))
  }

  addresses(text: string, families = this.families): DualStackIp {
    return parseIpList(families.map((family) => written(text, family)).join())
  }

  ips(text: string, families = this.families): readonly Ip[] {
    const { v4, v6 } = this.addresses(text, families)
    return [v4, v6].filter((ip) => ip !== undefined)
  }

  said(lease: Lease): string {
    return alike(formatIpList(lease).split(',').map(short)) ?? ''
  }

  entries(texts: readonly string[], families = this.families): readonly string[] {
    return texts.flatMap((text) => families.map((family) => written(text, family)))
  }

  /** Or the first word of the error, the one that Events have always had. */
  #answer(act: () => string): string {
    try {
      return act()
    } catch (error) {
      if (error instanceof KubeOvnError) return error.message.split(':')[0] ?? ''
      throw error
    }
  }
}
