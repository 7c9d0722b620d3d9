import { parseArgs } from 'node:util'
import { benchmarks } from './benchmarks.ts'

/** Three times what the longest takes on two cores. */
const limitMs = 45 * 60_000

const help = `Runs one benchmark on a lab of its own. The last line is one JSON object.

  npm run bench -- pod-cost
  npm run bench -- --list
  npm run bench -- vpc-scale --scale 0.1    # a tenth of everything, for a quick look; its figures are no figures
`

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      list: { type: 'boolean' },
      scale: { type: 'string', default: '1' },
    },
  })
  const [name] = positionals
  if (values.list === true) {
    for (const { name: one, summary } of benchmarks) console.log(`${one.padEnd(12)} ${summary}`)
    return 0
  }
  if (name === undefined || values.help === true) {
    process.stdout.write(help)
    return values.help === true ? 0 : 1
  }
  const benchmark = benchmarks.find((one) => one.name === name)
  if (benchmark === undefined) {
    process.stderr.write(`there is no benchmark ${name}; npm run bench -- --list names them\n`)
    return 1
  }
  const scale = Number(values.scale)
  if (!(scale > 0) || (scale !== 1 && benchmark.isScalable !== true)) {
    process.stderr.write(
      `--scale ${values.scale}: ${benchmark.isScalable === true ? 'write a number above 0' : `${name} has one size`}\n`,
    )
    return 1
  }
  const limit = setTimeout(() => giveUp(name), limitMs)
  const result = await benchmark.run(scale)
  clearTimeout(limit)
  console.log(JSON.stringify({ name, ...result }))
  return 0
}

/** Whatever a benchmark waits for may never come. */
function giveUp(name: string): never {
  process.stderr.write(
    `${name} has no figure: it did not end within ${limitMs / 60_000} minutes; what it prints says how far it came\n`,
  )
  process.exit(1)
}

// Whatever was started goes when this process exits.
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(status))
}
process.exitCode = await main(process.argv.slice(2))
