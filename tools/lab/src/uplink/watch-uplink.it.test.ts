import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from '../program.ts'
import { watchUplink } from './watch-uplink.ts'

/** A range of labs that no lab of this machine takes: it is beyond the last block. */
const range = '10.172.250.0/24'
const link = `up${process.pid}`.slice(0, 12)
const container = `kube-ovn-uplink-${process.pid}`
const table = container.replaceAll('-', '_')

/** Sends a datagram from this host, as a program would that still knows the address of a lab that is gone. */
async function sendTo(address: string): Promise<void> {
  const socket = createSocket('udp4')
  socket.send('lost', 9, address, () => socket.close())
  await once(socket, 'close')
}

it('tells of a packet of a lab that leaves, and of nothing else', async () => {
  onTestFinished(async () => {
    await runProgram('ip', ['link', 'delete', link])
  })
  await runProgram('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', `${link}p`])
  await runProgram('ip', ['link', 'set', link, 'up'])
  await runProgram('ip', ['link', 'set', `${link}p`, 'up'])
  await runProgram('ip', ['address', 'add', '198.51.100.1/24', 'dev', link])
  await runProgram('ip', ['route', 'add', range, 'dev', link])
  // Without an answer to ARP, nothing would leave the host.
  for (const address of ['10.172.250.9', '198.51.100.9'])
    await runProgram('ip', ['neigh', 'add', address, 'lladdr', '02:00:00:00:00:09', 'dev', link])
  const uplink = { name: link, networks: ['198.51.100.1/24'] }

  const quiet = await watchUplink([uplink])
  await sendTo('198.51.100.9')
  expect(await quiet.stop()).toEqual([])

  const watch = await watchUplink([uplink])
  await sendTo('10.172.250.9')
  // Nobody has told who has that address, so that only the question for it is sent.
  await sendTo('10.172.250.10')
  expect((await watch.stop()).toSorted()).toEqual([
    expect.stringMatching(/^198\.51\.100\.1 > 10\.172\.250\.10 arp: \d packets sent by the uplink$/),
    '198.51.100.1 > 10.172.250.10 udp: 1 packets routed to the uplink',
    '198.51.100.1 > 10.172.250.9 udp: 1 packets routed to the uplink',
    '198.51.100.1 > 10.172.250.9 udp: 1 packets sent by the uplink',
  ])
  expect((await runProgram('nft', ['list', 'tables'])).split(/\s/)).not.toContain(table)
})

it('leaves no container when it can not begin', async () => {
  const impossible = { name: 'longer-than-names-of-links', networks: [] }
  await expect(watchUplink([impossible])).rejects.toThrow('the uplink can not be watched: Error:')
  expect(await runProgram('docker', ['ps', '--all', '--format', '{{.Names}}'])).not.toContain(container)
})
