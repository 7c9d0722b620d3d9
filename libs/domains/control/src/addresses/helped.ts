import { parseMac, type Ip } from '@kube-ovn/ip'
import { isSameOwner, nameOf, ownerOf, type IpamView, type Owner } from '@kube-ovn/ipam'
import { waiterOf } from './turns.ts'
import type { Helped } from './waiters.ts'

/** Tells whom what somebody gave up in a subnet can help by now; a MAC address is text. */
export function helpedIn(ipam: IpamView): (subnet: string, one: Ip | string) => Helped {
  return (subnet, one) => {
    if (!ipam.hasSubnet(subnet)) return 'nobody'
    if (typeof one !== 'string') return helpedBeside(ipam.holders(subnet, one))
    const mac = parseMac(one)
    return mac === ipam.gatewayMac(subnet) ? 'nobody' : helpedBeside(ipam.macHolders(subnet, mac))
  }
}

function helpedBeside([first, ...others]: readonly Owner[]): Helped {
  if (first === undefined) return 'anybody'
  return others.every((holder) => isSameOwner(holder, first)) ? asWaiter(first) : 'nobody'
}

/** A pod waits under its name, by whatever kind a record knows it. */
function asWaiter(holder: Owner): Owner {
  const pod = ownerOf('pod', nameOf(holder))
  return waiterOf(holder) ?? (isSameOwner(holder, pod) ? pod : holder)
}
