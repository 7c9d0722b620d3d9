/** The families of a subnet with 254 addresses, for suites whose cases hold in each: they are about the host's number. */
export interface Stack {
  readonly stack: 'IPv4' | 'IPv6' | 'Dual'
  readonly cidr: string
  /** What an IPv4 address begins with. */
  readonly v4: string | undefined
  readonly v6: string | undefined
}

export const dualStack: Stack = {
  stack: 'Dual',
  cidr: '10.17.0.0/24,fd00:10:17::/120',
  v4: '10.17.0.',
  v6: 'fd00:10:17::',
}

export const singleStacks: readonly Stack[] = [
  { stack: 'IPv4', cidr: '10.17.0.0/24', v4: '10.17.0.', v6: undefined },
  { stack: 'IPv6', cidr: 'fd00:10:17::/120', v4: undefined, v6: 'fd00:10:17::' },
]

export const stacks: readonly Stack[] = [...singleStacks, dualStack]

/** The same host of another block. */
export function elsewhere({ stack, cidr, v4, v6 }: Stack): Stack {
  const moved = (text: string) => text.replace('10.17.', '10.27.').replace('fd00:10:17:', 'fd00:10:27:')
  return { stack, cidr: moved(cidr), v4: v4 && moved(v4), v6: v6 && moved(v6) }
}

/** A block of four addresses, of which the gateway leaves one. */
export function tiny(stack: Stack): Stack {
  return { ...stack, cidr: stack.cidr.replace('/24', '/30').replace('/120', '/126') }
}

/** The address of a host in each family. */
export function addresses({ v4, v6 }: Stack, host: number): readonly string[] {
  return [v4 && `${v4}${host}`, v6 && `${v6}${host.toString(16)}`].filter((text) => text !== undefined)
}

/** As annotations have them: `v4,v6`. */
export function address(stack: Stack, host: number): string {
  return addresses(stack, host).join()
}

/** From the first host to the last in each family, as users write it into IPPools and `excludeIps`. */
export function span(stack: Stack, first: number, last: number): readonly string[] {
  const ends = addresses(stack, last)
  return addresses(stack, first).map((start, index) => `${start}..${ends[index]}`)
}

/** Hosts, and ranges from the first to the last one. */
type Hosts = readonly (number | readonly [first: number, last: number])[]

interface Usage {
  readonly available: Hosts
  readonly using: Hosts
}

/** What the status of a Subnet says about its addresses. */
export function subnetUsage(stack: Stack, { available, using }: Usage): Readonly<Record<string, unknown>> {
  return {
    ...counted(stack, available, 'availableIPs', 'availableIPrange'),
    ...counted(stack, using, 'usingIPs', 'usingIPrange'),
  }
}

/** What the status of an IPPool says about its addresses. */
export function poolUsage(stack: Stack, { available, using }: Usage): Readonly<Record<string, unknown>> {
  return {
    ...counted(stack, available, 'AvailableIPs', 'AvailableIPRange'),
    ...counted(stack, using, 'UsingIPs', 'UsingIPRange'),
  }
}

function counted(
  stack: Stack,
  hosts: Hosts,
  count: string,
  range: string,
): Readonly<Record<string, unknown>> {
  const ranges = hosts.map((entry) => (typeof entry === 'number' ? ([entry] as const) : entry))
  const size = ranges.reduce((sum, [first, last = first]) => sum + last - first + 1, 0)
  const ofFamily = (family: 'v4' | 'v6') => {
    const alone = only(stack, family)
    const text = ranges.map((ends) => ends.map((host) => address(alone, host)).join('-')).join()
    const has = stack[family] !== undefined
    return { [`${family}${count}`]: has ? size : 0, [`${family}${range}`]: has ? text : '' }
  }
  return { ...ofFamily('v4'), ...ofFamily('v6') }
}

function only(stack: Stack, family: 'v4' | 'v6'): Stack {
  return family === 'v4' ? { ...stack, v6: undefined } : { ...stack, v4: undefined }
}
