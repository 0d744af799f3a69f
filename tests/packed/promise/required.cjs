// A program in CommonJS.

const { ConfigError, connect } = require("@credit-data/promise")

connect({ variables: {} }).catch((error) => console.log(error.name, error instanceof ConfigError))
