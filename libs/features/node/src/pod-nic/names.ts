/** Length of a container id's part in the name of a link. */
const idLength = 12

/** KubeVirt names a hot-plugged interface `pod` and eleven characters; the middle of them tells it apart. */
const hotPlugName = /^pod.{11}$/

/** The longest interface name that leaves room for a character of the container id: IFNAMSIZ allows 15 in all. */
export const longestInterfaceName = 11

/**
 * Names the host's end of a pod's veth pair: `<container id>_h` for eth0, `<container id>_<name>_h` for others.
 *
 * The name is derived from what DEL is told too, so an attachment is found again without any state. `undefined` when
 * the interface's name leaves no room.
 */
export function hostNicName(containerId: string, ifName: string): string | undefined {
  if (ifName === 'eth0') return `${containerId.slice(0, idLength)}_h`
  const name = hotPlugName.test(ifName) ? ifName.slice(3, -4) : ifName
  if (name.length > longestInterfaceName) return undefined
  return `${containerId.slice(0, idLength - name.length)}_${name}_h`
}

/** Whether a link of the host has a name that {@link hostNicName} gives. */
export function isHostNicName(name: string): boolean {
  return /^[0-9a-f]{1,12}(_[^/ ]+)?_h$/.test(name)
}
