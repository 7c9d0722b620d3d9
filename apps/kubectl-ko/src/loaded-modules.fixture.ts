/** Imported before a program: when that ends, writes the addresses of the modules that it has loaded, a line each, to its fourth stream. */
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
process.on('exit', () => writeSync(3, loaded.join('\n')))
