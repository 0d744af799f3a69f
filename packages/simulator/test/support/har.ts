import { Schema } from "effect"

const { Array, Literal, Number, String, Struct, optional } = Schema

const pairs = Array(Struct({ name: String, value: String }))

const message = {
  httpVersion: String,
  cookies: Array(Struct({})),
  headers: pairs,
  headersSize: Number,
  bodySize: Number
}

const request = Struct({
  ...message,
  method: String,
  url: String,
  queryString: pairs,
  postData: optional(Struct({ mimeType: String, text: String }))
})

const response = Struct({
  ...message,
  status: Number,
  statusText: String,
  redirectURL: String,
  content: Struct({ size: Number, mimeType: String, text: String })
})

/** The fields of an HTTP archive that its specification requires, and those that the simulator adds (HAR 1.2). */
const Archive = Struct({
  log: Struct({
    version: Literal("1.2"),
    creator: Struct({ name: String, version: String }),
    entries: Array(Struct({
      startedDateTime: String,
      time: Number,
      request,
      response,
      cache: Struct({}),
      timings: Struct({ send: Number, wait: Number, receive: Number }),
      comment: String
    }))
  })
})

/** Reads an HTTP archive. Throws if a field is missing, or is not in the specification. */
export const decodeArchive = Schema.decodeUnknownSync(Schema.parseJson(Archive), { onExcessProperty: "error" })
