import { createHash } from 'node:crypto'

/** Length of a container id's part in the name of a link. */
const idLength = 12

/** With fewer characters of their ids, containers of one node would have one name by chance. */
const leastIdLength = 8

/**
 * Names the host's end of a pod's veth pair: `<container id>_h` for eth0, `<container id>_<name>_h` for others with a short name. A longer one
 * would leave too little of the id, so that two pods with an interface of this name came to have one link: it goes into a hash, with all of the id.
 *
 * The name is derived from what DEL is told too, so an attachment is found again without any state.
 */
export function hostNicName(containerId: string, ifName: string): string {
  if (ifName === 'eth0') return `${containerId.slice(0, idLength)}_h`
  if (ifName.length <= idLength - leastIdLength) return withInterface(containerId, ifName)
  const hash = createHash('sha256').update(`${containerId}/${ifName}`).digest('hex')
  return `${hash.slice(0, idLength)}_h`
}

/** KubeVirt names a hot-plugged interface `pod` and eleven characters; the middle of them tells it apart. */
const hotPlugName = /^pod.{11}$/

/** The name that upstream gives, and earlier releases gave, where it is another one. Another pod's link may be called so as well. */
export function formerHostNicName(containerId: string, ifName: string): string | undefined {
  const name = hotPlugName.test(ifName) ? ifName.slice(3, -4) : ifName
  if (name.length >= idLength) return undefined
  const former = withInterface(containerId, name)
  return ifName === 'eth0' || former === hostNicName(containerId, ifName) ? undefined : former
}

function withInterface(containerId: string, name: string): string {
  return `${containerId.slice(0, idLength - name.length)}_${name}_h`
}

/** Whether a link of the host has a name that {@link hostNicName} gives. */
export function isHostNicName(name: string): boolean {
  return /^[0-9a-f]{1,12}(_[^/ ]+)?_h$/.test(name)
}
