import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../program.ts'

const module = join(import.meta.dirname, 'used-ranges.ts')

it('takes networks to which the machine has routes for used, but for wider ones and what is only dropped', async () => {
  const script = `
    ip link add near type veth peer name far
    ip link set near up && ip link set far up
    ip address add 10.172.5.1/24 dev near
    ip -6 address add fd00:172:30:9::1/64 dev near nodad
    ip route add 10.172.17.9 dev near
    ip route add 172.16.0.0/12 dev near
    ip route add blackhole 10.172.0.0/16
    "$1" --input-type=module --eval '
      const { isInUse, rangesInUse } = await import(process.argv[1])
      const used = await rangesInUse()
      console.log(JSON.stringify(process.argv.slice(2).filter((network) => isInUse(network, used))))
    ' "$2" "\${@:3}"`
  const used = ['10.172.5.0/24', '10.172.17.0/24', 'fd00:172:30:9::/64']
  const free = ['10.172.1.0/24', 'fd00:172:30:1::/64']
  const output = await runProgram('unshare', [
    ...['--net', 'bash', '-c', script, 'bash', process.execPath, module, ...used, ...free],
  ])
  expect(JSON.parse(output)).toEqual(used)
})

it('takes all of them for used where the machine has a route for the whole range', async () => {
  const script = `
    ip link add near type veth peer name far
    ip link set near up && ip link set far up
    ip route add 10.172.0.0/16 dev near
    "$1" --input-type=module --eval '
      const { isInUse, rangesInUse } = await import(process.argv[1])
      console.log(isInUse("10.172.1.0/24", await rangesInUse()))
    ' "$2"`
  expect(await runProgram('unshare', ['--net', 'bash', '-c', script, 'bash', process.execPath, module])).toBe(
    'true\n',
  )
})
