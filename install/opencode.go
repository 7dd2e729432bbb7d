package install

import (
	"encoding/json"
	"strings"
)

// pluginMark tells our plugin from a person's own.
const pluginMark = "// Made by `starter hook install --host opencode`"

// plugin is OpenCode's: it hands events to the binary and its answers back. It works with both generations of OpenCode's plugin
// interface; of the second one only what its documentation fixes is used.
func plugin(o Options) string {
	bin, _ := json.Marshal(o.Binary)
	guards := "false"
	if o.Guards {
		guards = "true"
	}
	homeDir, _ := json.Marshal(o.Home)
	return strings.NewReplacer("@HOME@", string(homeDir), "@MARK@", pluginMark, "@BINARY@", string(bin), "@GUARDS@", guards).Replace(pluginSource)
}

const pluginSource = `@MARK@; it is written anew by each installation.
import { spawn } from "node:child_process"

const binary = @BINARY@
const guards = @GUARDS@
const home = @HOME@

// call starts the hook for one event. What is no guard's business never stops the agent: an error is an empty answer.
function call(event, guard) {
  return new Promise((resolve) => {
    const args = ["--host", "opencode"].concat(guard ? ["--guard"] : []).concat(home ? ["--home", home] : [])
    let out = ""
    let err = ""
    let done = false
    const end = (value) => { if (!done) { done = true; resolve(value) } }
    let child
    try {
      child = spawn(binary, args, { stdio: ["pipe", "pipe", "pipe"], timeout: 10000 })
    } catch (e) {
      return end(guard ? { permission: "deny", reason: "whetstone's guard can not be started: " + e } : {})
    }
    child.on("error", (e) => end(guard ? { permission: "deny", reason: "whetstone's guard can not be started: " + e } : {}))
    child.stdout.on("data", (d) => { out += d })
    child.stderr.on("data", (d) => { err += d })
    child.on("close", (code) => {
      if (guard && code !== 0) return end({ permission: "deny", reason: err.trim() || "whetstone's guard failed" })
      try { end(out.trim() ? JSON.parse(out) : {}) } catch { end(guard ? { permission: "deny", reason: "whetstone's guard gave no answer" } : {}) }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(Object.assign({ host: "opencode" }, event)))
  })
}

const text = (parts) => (parts || []).filter((p) => p && p.type === "text" && p.text).map((p) => p.text).join("\n")

function hooks(directory, show) {
  const context = {} // by session: what the model is told with its next request
  const turn = {}
  const reply = {}
  const tell = (id, answer) => {
    if (answer.context) context[id] = (context[id] ? context[id] + "\n" : "") + answer.context
    if (answer.message) show(answer.message)
  }
  return {
    event: async ({ event }) => {
      const p = event.properties || {}
      if (event.type === "session.created") {
        const id = (p.info && p.info.id) || p.sessionID
        tell(id, await call({ event: "session.created", sessionID: id, directory }))
      } else if (event.type === "session.compacted") {
        delete context[p.sessionID] // what was told before is told anew
        tell(p.sessionID, await call({ event: "session.compacted", sessionID: p.sessionID, messageID: turn[p.sessionID], directory }))
      } else if (event.type === "message.part.updated" && p.part && p.part.type === "text") {
        reply[p.part.messageID] = reply[p.part.messageID] || {}
        reply[p.part.messageID][p.part.id] = p.part.text
      } else if (event.type === "message.updated" && p.info && p.info.role === "assistant" && p.info.time && p.info.time.completed && reply[p.info.id]) {
        const said = Object.values(reply[p.info.id]).join("\n")
        delete reply[p.info.id]
        const answer = await call({ event: "message.updated", sessionID: p.info.sessionID, messageID: turn[p.info.sessionID] || p.info.parentID, directory, reply: said })
        if (answer.message) show(answer.message)
      }
    },
    "chat.message": async (input, output) => {
      const id = (output.message && output.message.id) || input.messageID
      turn[input.sessionID] = id
      tell(input.sessionID, await call({ event: "chat.message", sessionID: input.sessionID, messageID: id, directory, prompt: text(output.parts) }))
    },
    "tool.execute.before": async (input, output) => {
      if (!guards) return
      const answer = await call({ event: "tool.execute.before", sessionID: input.sessionID, messageID: turn[input.sessionID], directory, tool: input.tool, callID: input.callID, args: output.args }, true)
      if (answer.permission === "deny") throw new Error(answer.reason || "denied by whetstone's guard")
    },
    "tool.execute.after": async (input, output) => {
      await call({ event: "tool.execute.after", sessionID: input.sessionID, messageID: turn[input.sessionID], directory, tool: input.tool, callID: input.callID, args: input.args || (output && output.args) || {} })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const waiting = input && context[input.sessionID]
      if (waiting) output.system.push(waiting)
    },
  }
}

export default {
  id: "whetstone",
  async server(input) {
    const show = (message) => { try { input.client.tui.showToast({ body: { message, variant: "info" } }) } catch {} }
    return hooks(input.directory || process.cwd(), show)
  },
  async setup(ctx) {
    const h = hooks((ctx && ctx.directory) || process.cwd(), () => {})
    const on = (name, f) => { try { ctx.tool.hook(name, f) } catch {} }
    on("execute.before", (e) => h["tool.execute.before"](e, { args: e.args }))
    on("execute.after", (e) => h["tool.execute.after"](e, {}))
    try { ctx.event.subscribe((event) => h.event({ event })) } catch {}
  },
}
`
