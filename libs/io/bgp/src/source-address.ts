import { closeSync } from 'node:fs'
import { decodeAddress, inNamespace, libcFunction, openNetlink } from '@kube-ovn/netlink'
import { familyOfText } from './address-family.ts'
import {
  connect,
  datagramCloseOnExecNonBlocking,
  domain,
  socket,
  socketAddress,
  succeed,
} from './tcp-options.ts'

const socketName = libcFunction<[fd: number, address: Buffer, length: Buffer]>(
  'int getsockname(int fd, void *address, void *length)',
)
/** Any but 0: nothing is sent. */
const port = 179

/**
 * Asks the kernel which own address it would send from to another one, by its routes as they are now. No packet leaves.
 *
 * @param netns path of the network namespace; default is the own one
 * @throws BgpSocketError when there is no route
 */
export function sourceAddress(address: string, netns?: string): string {
  const family = familyOfText(address)
  const open = (): number => socket(domain[family], datagramCloseOnExecNonBlocking, 0)
  const fd = succeed(netns === undefined ? open() : inNamespace(netns, open), 'socket', address)
  try {
    const peer = socketAddress(address, port)
    succeed(connect(fd, peer, peer.length), 'route', address)
    const own = Buffer.alloc(peer.length)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(own.length)
    succeed(socketName(fd, own, length), 'getsockname', address)
    return decodeAddress(family === 'ipv4' ? own.subarray(4, 8) : own.subarray(8, 24))
  } finally {
    closeSync(fd)
  }
}

/**
 * Says whether packets to an address can arrive here: a link that is up has it.
 *
 * @param netns path of the network namespace; default is the own one
 * @throws NetlinkError
 */
export function isOwnAddress(address: string, netns?: string): boolean {
  using netlink = openNetlink(netns === undefined ? {} : { netns })
  const found = netlink.addresses().filter(({ cidr }) => cidr.split('/')[0] === address)
  return found.some(({ index }) => netlink.link(index)?.isUp === true)
}
