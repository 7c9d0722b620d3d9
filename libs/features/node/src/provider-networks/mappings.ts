/** Keys of `Open_vSwitch.external_ids` that are lists `<network>:<value>` of many writers. */
export const mappingKeys = {
  /** Bridge of each physical network, for ovn-controller. */
  bridges: 'ovn-bridge-mappings',
  /** MAC address that routers have on each, on this chassis. */
  macs: 'ovn-chassis-mac-mappings',
} as const

type Entry = readonly [network: string, value: string]

function readMappings(text = ''): readonly Entry[] {
  return text
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .map((entry): Entry => {
      const colon = entry.indexOf(':')
      return colon < 0 ? [entry, ''] : [entry.slice(0, colon).trim(), entry.slice(colon + 1).trim()]
    })
}

/** The list with another value for a network, `undefined` for none; `undefined` if nothing is left. Entries of others are as they were. */
export function withMapping(
  text: string | undefined,
  network: string,
  value: string | undefined,
): string | undefined {
  const entries = readMappings(text)
  const own = entries.filter(([name]) => name === network)
  if (own.length === (value === undefined ? 0 : 1) && own.every(([, present]) => present === value))
    return text === '' ? undefined : text
  const place = entries.findIndex(([name]) => name === network)
  const rest = entries.filter(([name]) => name !== network)
  const next =
    value === undefined
      ? rest
      : rest.toSpliced(place < 0 ? rest.length : Math.min(place, rest.length), 0, [network, value])
  return next.length === 0 ? undefined : next.map(([name, one]) => `${name}:${one}`).join(',')
}

export function mappingOf(text: string | undefined, network: string): string | undefined {
  return readMappings(text).find(([name]) => name === network)?.[1]
}
