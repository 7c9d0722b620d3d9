import { AnnotationInvalidError, podAnnotations, type Annotation } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import type { DualStackIp, Family, Ip } from '@kube-ovn/ip'
import type { Pod } from '@kube-ovn/kube-api/core'
import { unusable } from '../topology/aspect.ts'
import { parseDhcpOptions, type DhcpOptions } from '../topology/dhcp-options.ts'
import { OptionTextError } from '../topology/errors.ts'
import { isPrimary, type PodNic } from './nic.ts'

/** How a pod wants its port to behave, beside its addresses. */
export interface PortOptions {
  readonly isSecured: boolean
  readonly forwardsUnknown: boolean
  /** Traffic reaches it once whoever is there announces itself. */
  readonly isActivatedByRarp: boolean
  /** Further addresses that it may send from. */
  readonly vips: readonly Ip[]
  /** Some of these are addresses of a Vip that it shares with other ports. */
  readonly sharesVip: boolean
  /** SecurityGroups that it is in; absent where it can not be read which. */
  readonly securityGroups: readonly string[] | undefined
  /** What it wants to be answered by DHCP itself, of the families in which it says so. */
  readonly dhcp: Readonly<Partial<Record<Family, DhcpOptions | typeof unusable>>>
  /** Next hops of its own for what leaves the cluster. */
  readonly northGateway: DualStackIp | undefined
}

export interface ReadPortOptions {
  readonly options: PortOptions
  /** What can not be read, and therefore has no effect. */
  readonly ignored: readonly KubeOvnError[]
}

/** Reads what a pod asks of its port. A malformed value has no effect: the pod gets its port all the same. */
export function readPortOptions({ metadata }: Pod, nic: PodNic): ReadPortOptions {
  const keys = podAnnotations(nic.provider)
  const ignored: KubeOvnError[] = []
  function read<T>(annotation: Annotation<T>): T | undefined {
    try {
      return annotation.read(metadata.annotations)
    } catch (error) {
      if (!(error instanceof AnnotationInvalidError)) throw error
      ignored.push(error)
      return undefined
    }
  }
  function readDhcp(family: Family): DhcpOptions | typeof unusable | undefined {
    const { key, read: readText } = family === 4 ? keys.dhcpV4Options : keys.dhcpV6Options
    const written = readText(metadata.annotations) ?? ''
    if (written === '') return undefined
    try {
      return parseDhcpOptions(written, family, key)
    } catch (error) {
      if (!(error instanceof OptionTextError)) throw error
      ignored.push(error)
      return unusable
    }
  }
  function readSecurityGroups(): readonly string[] | undefined {
    const names = read({ ...keys.securityGroups, read: (all) => keys.securityGroups.read(all) ?? [] })
    return names && [...new Set(names)]
  }
  const gateway = isPrimary(nic) ? read(keys.northGateway) : undefined
  const hasGateway = gateway?.v4 !== undefined || gateway?.v6 !== undefined
  const options = {
    isSecured: read(keys.portSecurity) ?? false,
    forwardsUnknown: read(keys.layer2Forward) ?? false,
    isActivatedByRarp: (read(keys.activationStrategy) ?? '') !== '',
    vips: read(keys.portVips) ?? [],
    sharesVip: false,
    securityGroups: readSecurityGroups(),
    dhcp: definedOf({ 4: readDhcp(4), 6: readDhcp(6) }),
    northGateway: hasGateway ? gateway : undefined,
  }
  return { options, ignored }
}

function definedOf<T>(values: Readonly<Record<Family, T | undefined>>): Readonly<Partial<Record<Family, T>>> {
  return {
    ...(values[4] === undefined ? {} : { 4: values[4] }),
    ...(values[6] === undefined ? {} : { 6: values[6] }),
  }
}
