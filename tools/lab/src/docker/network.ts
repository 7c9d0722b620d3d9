import { DockerError } from '../errors.ts'
import { callEngine, labelFilter, unlessMissing } from './engine.ts'

export interface NetworkSpec {
  readonly name: string
  readonly ipv4Subnet: string
  readonly ipv6Subnet: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * Creates a network that reaches nothing outside of it.
 *
 * @returns false if its addresses overlap with those of another network
 */
export async function createInternalNetwork(spec: NetworkSpec): Promise<boolean> {
  try {
    await callEngine('POST', '/networks/create', {
      Name: spec.name,
      CheckDuplicate: true,
      Internal: true,
      EnableIPv6: true,
      Labels: spec.labels,
      IPAM: { Config: [{ Subnet: spec.ipv4Subnet }, { Subnet: spec.ipv6Subnet }] },
    })
    return true
  } catch (error) {
    if (error instanceof DockerError && /overlap/i.test(error.details.reason)) return false
    throw error
  }
}

/** What a listed network looks like, as far as it is read here. */
interface ListedNetwork {
  readonly Id: string
  readonly Name: string
  readonly Labels: Readonly<Record<string, string>>
}

/** Lists the networks that carry a label. */
export function listNetworks(label: string): Promise<readonly ListedNetwork[]> {
  return callEngine('GET', `/networks?${labelFilter(label)}`)
}

/** Removes the networks that carry a label. */
export async function removeNetworks(label: string): Promise<void> {
  const networks = await listNetworks(label)
  await Promise.all(networks.map(({ Id }) => unlessMissing(callEngine('DELETE', `/networks/${Id}`))))
}
