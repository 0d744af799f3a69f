// A call with a token that is requested once and reused until it expires, in Java 11 or later without a library: java Client.java

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Client {
    static final HttpClient http = HttpClient.newHttpClient();
    static String token;
    static long renewAt = System.nanoTime();

    static String setting(String name) {
        return System.getenv("CREDIT_DATA_" + name);
    }

    /** A member of a flat JSON object. A program with a JSON library uses that. */
    static String member(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\":\"?([^\",}]+)").matcher(json);
        if (!matcher.find()) throw new IllegalStateException("no " + name);
        return matcher.group(1);
    }

    static String accessToken() throws Exception {
        if (System.nanoTime() - renewAt >= 0) {
            String form = Map.of(
                "client_id", setting("CLIENT_ID"),
                "client_secret", setting("CLIENT_SECRET"),
                "audience", setting("AUDIENCE"),
                "scope", setting("SCOPES"),
                "grant_type", "client_credentials"
            ).entrySet().stream()
                .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
            HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create(setting("AUTH_V2_URL") + "/oauth2/token"))
                    .header("content-type", "application/x-www-form-urlencoded")
                    .timeout(Duration.ofSeconds(10))
                    .POST(HttpRequest.BodyPublishers.ofString(form)).build(),
                BodyHandlers.ofString());
            if (response.statusCode() != 200) throw new IllegalStateException("token: " + response.statusCode());
            token = member(response.body(), "access_token");
            renewAt = System.nanoTime() + Long.parseLong(member(response.body(), "expires_in")) * 900_000_000L;
        }
        return token;
    }

    static HttpResponse<String> call(String path, boolean retry) throws Exception {
        HttpResponse<String> response = http.send(
            HttpRequest.newBuilder(URI.create(setting("BASE_URL") + path))
                .header("authorization", "Bearer " + accessToken())
                .timeout(Duration.ofSeconds(10)).build(),
            BodyHandlers.ofString());
        if (response.statusCode() != 401 || !retry) return response;
        renewAt = System.nanoTime(); // the API rejected the token: request another one, once
        return call(path, false);
    }

    public static void main(String[] arguments) throws Exception {
        for (String path : new String[] {"/data-access/consumers/42", "/furnishment/submissions/7"}) {
            HttpResponse<String> response = call(path, true);
            System.out.println(response.statusCode() + " " + response.body());
        }
    }
}
