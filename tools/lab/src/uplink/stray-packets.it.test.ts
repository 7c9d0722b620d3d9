import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../program.ts'

const module = join(import.meta.dirname, 'stray-packets.ts')
const reaper = join(import.meta.dirname, '../cluster/reaper.ts')

/** In a network namespace of its own, with a default gateway: what the kernel does before, meanwhile and afterwards. */
async function routesSeen(meanwhile: string): Promise<readonly string[]> {
  const script = `
    ip link add near type veth peer name far
    ip link set near up && ip link set far up && ip link set lo up
    ip address add 198.51.100.1/24 dev near && ip route add default via 198.51.100.2
    ip -6 address add 2001:db8::1/64 dev near nodad && ip -6 route add default via 2001:db8::2
    seen() { for address in 10.172.7.9 fd00:172:30:7::9; do ip route get $address 2>&1 | head -n 1; done; }
    seen
    export -f seen
    "$1" --input-type=module --eval '
      import { execFileSync } from "node:child_process"
      const { dropStrayPackets } = await import(process.argv[1])
      dropStrayPackets()
      dropStrayPackets()
      execFileSync("bash", ["-c", process.argv[2] + "; seen"], { stdio: "inherit" })
    ' "$2" "$3"
    seen`
  const output = await runProgram('unshare', [
    ...['--net', 'bash', '-c', script, 'bash', process.execPath, module, meanwhile],
  ])
  return output.trim().split('\n')
}

it('drops what is for a lab that is not there, until the process ends', async () => {
  const seen = await routesSeen('true')
  expect(seen).toEqual([
    expect.stringContaining('via 198.51.100.2'),
    expect.stringContaining('via 2001:db8::2'),
    expect.stringMatching(/^RTNETLINK answers/),
    expect.stringMatching(/^RTNETLINK answers/),
    expect.stringContaining('via 198.51.100.2'),
    expect.stringContaining('via 2001:db8::2'),
  ])
})

it('leaves the network of a lab alone, and goes on while there is one', async () => {
  const seen = await routesSeen(
    'ip address add 10.172.5.1/24 dev near; ip -6 address add fd00:172:30:5::1/64 dev near nodad',
  )
  expect(seen.slice(2)).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/^RTNETLINK answers/)))
})

it('leaves a route alone that somebody else has for the whole range', async () => {
  const script = `
    ip link add near type veth peer name far
    ip link set near up && ip link set far up
    ip route add 10.172.0.0/16 dev near
    "$1" --input-type=module --eval '
      const { dropStrayPackets } = await import(process.argv[1])
      dropStrayPackets()
    ' "$2"
    ip route show`
  const output = await runProgram('unshare', [
    '--net',
    'bash',
    '-c',
    script,
    'bash',
    process.execPath,
    module,
  ])
  expect(output.trim()).toBe('10.172.0.0/16 dev near scope link')
})

it('goes on with a process that is killed only until its reaper has seen that', async () => {
  const script = `
    ip link set lo up
    exec 3< <(exec ip monitor route)
    monitor=$!
    "$1" --input-type=module --eval '
      const { dropStrayPackets } = await import(process.argv[1])
      const { ensureReaper } = await import(process.argv[2])
      ensureReaper()
      dropStrayPackets()
      process.kill(process.pid, "SIGKILL")
    ' "$2" "$3"
    echo "exit $?"
    timeout 150 grep --max-count=2 '^Deleted blackhole' <&3
    kill $monitor`
  const output = await runProgram('unshare', [
    ...['--net', 'bash', '-c', script, 'bash', process.execPath, module, reaper],
  ])
  const [exit, ...deleted] = output.trim().split('\n')
  expect(exit).toBe('exit 137')
  expect(deleted).toHaveLength(2)
})
